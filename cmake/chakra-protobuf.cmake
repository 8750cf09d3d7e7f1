# SPDX-License-Identifier: GPL-2.0-only
# The messages of Chakra execution traces as a source file of the library, for both modes of building.
# Before it: find_package(Protobuf). They are made when the build is configured, so that tools that read
# sources without building them (clang-tidy) find their header.
set(gradsync_chakra_folder ${CMAKE_CURRENT_BINARY_DIR}/chakra)
set(gradsync_chakra_proto ${CMAKE_CURRENT_SOURCE_DIR}/model/import/trace/chakra-trace.proto)
set(gradsync_chakra_messages ${gradsync_chakra_folder}/chakra-trace.pb.cc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gradsync_chakra_proto})
file(MAKE_DIRECTORY ${gradsync_chakra_folder})
if(${gradsync_chakra_proto} IS_NEWER_THAN ${gradsync_chakra_messages})
  execute_process(
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${gradsync_chakra_folder}
      --proto_path=${CMAKE_CURRENT_SOURCE_DIR}/model/import/trace ${gradsync_chakra_proto}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
# Not our code: no warnings, and not compiled together with ours.
set_source_files_properties(${gradsync_chakra_messages} PROPERTIES
  COMPILE_OPTIONS -w SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
# For building only: ns-3 copies a module's folders into what it installs, where a build folder is an
# error to CMake.
include_directories(SYSTEM $<BUILD_INTERFACE:${gradsync_chakra_folder}> ${Protobuf_INCLUDE_DIRS})
