# SPDX-License-Identifier: GPL-2.0-only
# The messages of Chakra execution traces and of P4Runtime's text as source files of the library, for both modes
# of building. Before it: find_package(Protobuf). They are made when the build is configured, so that tools that
# read sources without building them (clang-tidy) find their headers.
set(gradsync_messages_folder ${CMAKE_CURRENT_BINARY_DIR}/chakra)
set(gradsync_messages)
file(MAKE_DIRECTORY ${gradsync_messages_folder})
foreach(proto model/import/trace/chakra-trace model/p4/runtime/p4-runtime)
  set(gradsync_proto ${CMAKE_CURRENT_SOURCE_DIR}/${proto}.proto)
  get_filename_component(name ${proto} NAME)
  get_filename_component(folder ${gradsync_proto} DIRECTORY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gradsync_proto})
  if(${gradsync_proto} IS_NEWER_THAN ${gradsync_messages_folder}/${name}.pb.cc)
    execute_process(
      COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${gradsync_messages_folder} --proto_path=${folder}
        ${gradsync_proto}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  list(APPEND gradsync_messages ${gradsync_messages_folder}/${name}.pb.cc)
endforeach()
# Not our code: no warnings, and not compiled together with ours.
set_source_files_properties(${gradsync_messages} PROPERTIES
  COMPILE_OPTIONS -w SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
# For building only: ns-3 copies a module's folders into what it installs, where a build folder is an
# error to CMake.
include_directories(SYSTEM $<BUILD_INTERFACE:${gradsync_messages_folder}> ${Protobuf_INCLUDE_DIRS})
