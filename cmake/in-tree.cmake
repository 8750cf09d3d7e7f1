# SPDX-License-Identifier: GPL-2.0-only
# In-tree mode: the module sits in contrib/gradsync of an ns-3 source tree and ns-3's build system
# builds it. ns-3's own settings (profile, warnings, tests, examples) hold for it.

set(gradsync_root ${CMAKE_CURRENT_SOURCE_DIR})

# Imported targets are known in their own directory only; ns-3's test-runner, which links the module,
# stands in another one.
foreach(package Boost fmt nlohmann_json CLI11 LibXml2 Protobuf ZLIB)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(STATUS "Skipping gradsync: ${package} was not found (see contrib/gradsync/doc/dependencies.md)")
    return()
  endif()
endforeach()
foreach(target fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
  get_target_property(is_global ${target} IMPORTED_GLOBAL)
  if(NOT is_global)
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
  endif()
endforeach()

# ns-3.37 builds with C++17 and later releases with more. The variable is this directory's own. The
# precompiled header of ns-3 has ns-3's standard, so it is not used here.
if(NOT CMAKE_CXX_STANDARD OR CMAKE_CXX_STANDARD LESS 20)
  set(CMAKE_CXX_STANDARD 20)
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
# The optimized profile compiles for the machine at hand. Fused multiply-adds would make floating-point
# results differ between machines and from the stand-alone build.
add_compile_options(-ffp-contract=off)
# By their variables: ns-3 has made targets of these already, which are not to be changed from here.
include_directories(${LIBXML2_INCLUDE_DIRS} ${Boost_INCLUDE_DIRS} ${ZLIB_INCLUDE_DIRS})

# ns-3 puts the headers of all modules into one folder, where those that are not for others have no place.
# The library, its tests and the program find them here.
include(${CMAKE_CURRENT_LIST_DIR}/header-folder.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/public-headers.cmake)
set(gradsync_inside ${CMAKE_CURRENT_BINARY_DIR}/inside)
gradsync_link_headers(${gradsync_inside} ${gradsync_inner_headers})
include_directories($<BUILD_INTERFACE:${gradsync_inside}>)

gradsync_set_version_definitions("${NS3_VER}")
include(${CMAKE_CURRENT_LIST_DIR}/embed-programs.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/congestion-controls.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/protobuf-messages.cmake)

# It also reads examples/CMakeLists.txt, which adds the program.
build_lib(
  LIBNAME gradsync
  SOURCE_FILES ${gradsync_sources} ${gradsync_messages}
  HEADER_FILES ${gradsync_public_headers}
  LIBRARIES_TO_LINK ${gradsync_ns3_libraries} fmt::fmt nlohmann_json::nlohmann_json ${LIBXML2_LIBRARIES}
    ${Protobuf_LIBRARIES} ${ZLIB_LIBRARIES}
  TEST_SOURCES ${gradsync_suite_sources}
  IGNORE_PCH
)
option(GRADSYNC_UNITY "Compile several files of gradsync at a time, which makes whole builds faster" OFF)
if(GRADSYNC_UNITY)
  include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)
  # Some releases of ns-3 compile into an object library first.
  foreach(target libgradsync-obj libgradsync gradsync-obj gradsync)
    if(TARGET ${target})
      gradsync_unite(${target})
    endif()
  endforeach()
endif()
# Targets have no `lib` before their names from ns-3.43 on.
foreach(target libgradsync-test gradsync-test)
  if(TARGET ${target})
    target_include_directories(${target} PRIVATE ${gradsync_root}/tests)
  endif()
endforeach()
