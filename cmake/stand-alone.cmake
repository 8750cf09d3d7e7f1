# SPDX-License-Identifier: GPL-2.0-only
# Stand-alone mode: an installed ns-3 found by its CMake package.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
option(GRADSYNC_WERROR "Treat warnings as errors" OFF)
option(GRADSYNC_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
option(GRADSYNC_TESTS "Build the tests" ON)
option(GRADSYNC_TEST_CASES "Give ctest every test case, each in a process of its own" ON)
option(GRADSYNC_BENCHMARKS "Build the benchmarks" ON)
option(GRADSYNC_MPI "Build what several processes of one simulation talk by" OFF)
option(GRADSYNC_UNITY
  "Compile several files at a time, with precompiled headers, which makes whole builds faster" ON)

# CMake's own module for Boost, which finds headers that have no package of Boost's beside them.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 OLD)
endif()
find_package(ns3 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(LibXml2 REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers only
find_package(Protobuf 3.21 REQUIRED)
find_package(ZLIB REQUIRED)

include(${CMAKE_CURRENT_LIST_DIR}/ns3-targets.cmake)
gradsync_ns3_libraries(gradsync_ns3 core network internet point-to-point traffic-control)

# What is installed, and what stays inside: examples see the former only, as programs of others do.
include(${CMAKE_CURRENT_LIST_DIR}/header-folder.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/public-headers.cmake)
set(gradsync_include ${CMAKE_BINARY_DIR}/include)
gradsync_link_headers(${gradsync_include} ${gradsync_public_headers})
gradsync_link_headers(${CMAKE_BINARY_DIR}/inside ${gradsync_inner_headers})
# Inside an ns-3 tree ns-3 makes this one, as of every module.
set(gradsync_module_header ${CMAKE_BINARY_DIR}/gradsync-module.h)
file(CONFIGURE OUTPUT ${gradsync_module_header} CONTENT "#include \"ns3/gradsync.h\"\n")
file(CREATE_LINK ${gradsync_module_header} ${gradsync_include}/ns3/gradsync-module.h SYMBOLIC)
add_library(gradsync-inside INTERFACE)
target_include_directories(gradsync-inside INTERFACE ${CMAKE_BINARY_DIR}/inside)
target_link_libraries(gradsync-inside INTERFACE Boost::headers fmt::fmt nlohmann_json::nlohmann_json)

# GCC collects its garbage whenever it has as much again: without, a unit of the library takes up to a tenth less
# time, and 1.5 GB for 1.15, where each core has more than that.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY) # MiB
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory_of_core "${memory} / ${cores}")
set(gradsync_gcc_heap)
if(memory_of_core GREATER 2500)
  set(gradsync_gcc_heap --param=ggc-min-heapsize=2000000)
endif()

add_library(gradsync-options INTERFACE)
# ASan finds what is behind an object, unless it is in another one, and the processor what is read at address 0: without
# these two of the undefined behaviour's checks the library compiles in a fifth less time.
target_compile_options(gradsync-options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  # Fused multiply-adds would make floating-point results differ between machines and build modes.
  -ffp-contract=off
  # GCC 12 to 14 see an overlap in "literal" + std::string that they inline at -O3 (GCC bug 105651), and
  # from 13 on take what a function returns for a part of a temporary that it was given.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,15>>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>>:-Wno-dangling-reference>
  $<$<BOOL:${GRADSYNC_WERROR}>:-Werror>
  $<$<BOOL:${GRADSYNC_SANITIZE}>:-DGRADSYNC_SANITIZED -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=null,object-size -fno-omit-frame-pointer>
  $<$<CXX_COMPILER_ID:GNU>:${gradsync_gcc_heap}>
  $<$<AND:$<BOOL:${GRADSYNC_SANITIZE}>,$<CXX_COMPILER_ID:Clang>>:-Wno-overlength-strings>)
target_link_options(gradsync-options INTERFACE
  $<$<BOOL:${GRADSYNC_SANITIZE}>:-fsanitize=address,undefined>)
# Sanitized programs are 200 MB each: one of the faster linkers, where there is one, halves the time.
find_program(gradsync_linker NAMES ld.mold ld.lld ld.lld-14)
if(GRADSYNC_SANITIZE AND gradsync_linker)
  get_filename_component(linker ${gradsync_linker} NAME)
  # Clang knows its own lld, GCC only one without a version.
  string(REGEX REPLACE "ld\\.([a-z]+).*" "-fuse-ld=\\1" linker ${linker})
  target_link_options(gradsync-options INTERFACE ${linker})
endif()
target_compile_definitions(gradsync-options INTERFACE
  NS3_LOG_ENABLE $<$<CONFIG:Debug>:NS3_ASSERT_ENABLE>)

gradsync_set_version_definitions("${ns3_VERSION}")
include(${CMAKE_CURRENT_LIST_DIR}/embed-programs.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/congestion-controls.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/protobuf-messages.cmake)
add_library(gradsync STATIC ${gradsync_sources} ${gradsync_messages})
target_compile_features(gradsync PUBLIC cxx_std_20)
target_include_directories(gradsync BEFORE PUBLIC $<BUILD_INTERFACE:${gradsync_include}>)
# Programs of others see ns-3 in the headers, and link the rest.
target_link_libraries(gradsync PUBLIC ${gradsync_ns3}
  PRIVATE $<BUILD_INTERFACE:gradsync-inside> $<BUILD_INTERFACE:gradsync-options> fmt::fmt LibXml2::LibXml2
    protobuf::libprotobuf ZLIB::ZLIB)
set_target_properties(gradsync PROPERTIES LINKER_LANGUAGE CXX)
include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)
if(GRADSYNC_UNITY)
  gradsync_unite(gradsync)
endif()
if(GRADSYNC_SANITIZE)
  # Tests spend their time in the library. Clang inlines nothing at -O1, and compiles as fast at -O2. With
  # sanitizers GCC 12 takes members of the standard library's regex for uninitialised.
  target_compile_options(gradsync PRIVATE
    "$<IF:$<CXX_COMPILER_ID:GNU>,-O1;-Wno-maybe-uninitialized,-O2>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # libFuzzer wants to know where a text has led, of the rooms that read texts.
    target_compile_options(gradsync PRIVATE -fsanitize=fuzzer-no-link
      -fsanitize-coverage-allowlist=${CMAKE_SOURCE_DIR}/tests/fuzz/covered-rooms.txt)
  endif()
endif()

if(gradsync_program_sources)
  add_executable(gradsync-program ${gradsync_program_sources})
  set_target_properties(gradsync-program PROPERTIES OUTPUT_NAME gradsync
    UNITY_BUILD ${GRADSYNC_UNITY})
  target_link_libraries(gradsync-program PRIVATE gradsync gradsync-inside gradsync-options CLI11::CLI11)
  # Loaded by the program where it is one of several (--ranks).
  if(GRADSYNC_MPI)
    set(MPI_CXX_SKIP_MPICXX ON) # not the C++ interface, which MPI has no more
    find_package(MPI REQUIRED COMPONENTS CXX)
    add_library(gradsync-mpi MODULE ${gradsync_mpi_sources})
    set_target_properties(gradsync-mpi PROPERTIES PREFIX "")
    target_link_libraries(gradsync-mpi PRIVATE gradsync-inside gradsync-options MPI::MPI_CXX)
    target_include_directories(gradsync-mpi BEFORE PRIVATE ${gradsync_include})
  endif()
  include(${CMAKE_CURRENT_LIST_DIR}/install.cmake)
endif()

foreach(source ${gradsync_examples})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE gradsync gradsync-options fmt::fmt)
endforeach()

# The same exchange on ns-3's own devices and TCP, to compare with; only this needs these modules.
if(GRADSYNC_TESTS OR GRADSYNC_BENCHMARKS)
  gradsync_ns3_libraries(gradsync_ns3_stock nix-vector-routing)
  add_library(gradsync-stock STATIC ${gradsync_stock_sources})
  target_include_directories(gradsync-stock PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(gradsync-stock PUBLIC gradsync gradsync-inside ${gradsync_ns3_stock}
    PRIVATE gradsync-options)
endif()

if(GRADSYNC_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  # Whose programs run beside exchanges on one network.
  gradsync_ns3_libraries(gradsync_ns3_applications applications)
  include(GoogleTest)
  foreach(room ${gradsync_test_rooms})
    set(name ${room}-tests)
    add_executable(${name} ${gradsync_tests_of_${room}})
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${GRADSYNC_UNITY} UNITY_BUILD_BATCH_SIZE ${gradsync_unit_files})
    if(gradsync_precompile)
      list(GET gradsync_test_rooms 0 first)
      if(room STREQUAL first)
        target_precompile_headers(${name} PRIVATE ${gradsync_common_headers} <gmock/gmock.h>)
      else()
        target_precompile_headers(${name} REUSE_FROM ${first}-tests)
      endif()
    endif()
    # Tests wait for the library, not for their own code.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE GRADSYNC_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(TARGET gradsync-program)
      # Some tests run the program itself.
      target_compile_definitions(${name} PRIVATE GRADSYNC_PROGRAM="$<TARGET_FILE:gradsync-program>")
      add_dependencies(${name} gradsync-program)
    endif()
    target_link_libraries(${name} PRIVATE gradsync gradsync-inside gradsync-options GTest::gmock_main
      $<$<STREQUAL:${room},stock>:gradsync-stock> $<$<STREQUAL:${room},helper>:${gradsync_ns3_applications}>)
    # Of a function that both have, as of a template or an inline one, a program takes the first: the library's, which
    # is optimised. That of the tests takes twice as long under the sanitizers.
    target_link_options(${name} PRIVATE -Wl,--whole-archive $<TARGET_FILE:gradsync> -Wl,--no-whole-archive)
    # Starting a program for every case takes longer than most cases do. ./ns3 test takes the shards, and with
    # --filter the cases; so does ctest, which knows the shards by `-C Shards` where there are cases, too.
    set(configurations)
    if(GRADSYNC_TEST_CASES)
      gtest_discover_tests(${name} TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES LABELS case)
      set(configurations CONFIGURATIONS Shards)
    endif()
    # Those that take longest begin first, so that all cores have something to do until the end.
    set(cost 1)
    if(room STREQUAL scenario)
      set(cost 100)
    elseif(room STREQUAL transport)
      set(cost 10)
    endif()
    # A process for every fourth case.
    foreach(shard RANGE 3)
      add_test(NAME ${name}.shard-${shard} COMMAND ${name} ${configurations})
      set_tests_properties(${name}.shard-${shard} PROPERTIES TIMEOUT 900 LABELS shard COST ${cost}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}")
    endforeach()
  endforeach()
  # Preloaded by tests/e2e/store_test.py.
  add_library(failing-store MODULE tests/support/failing-store.cc)
  set_target_properties(failing-store PROPERTIES PREFIX "")
  target_compile_options(failing-store PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  target_link_libraries(failing-store PRIVATE ${CMAKE_DL_LIBS})
  foreach(source ${gradsync_examples})
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME example.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}>
      -DEXPECTED=${CMAKE_SOURCE_DIR}/examples/expected/${name}.txt
      -P ${CMAKE_SOURCE_DIR}/cmake/run-example.cmake)
  endforeach()
  # libFuzzer comes with Clang. Not a test of its own: ./ns3 test --fuzz runs it.
  if(GRADSYNC_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_executable(reader-fuzz tests/fuzz/reader-fuzz.cc tests/fuzz/readers.cc)
    target_include_directories(reader-fuzz PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(reader-fuzz PRIVATE GRADSYNC_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(reader-fuzz PRIVATE gradsync gradsync-inside gradsync-options)
    target_link_options(reader-fuzz PRIVATE -fsanitize=fuzzer)
  endif()
  if(gradsync_suite_sources)
    add_executable(gradsync-test-runner tests/suites/test-runner.cc ${gradsync_suite_sources})
    target_include_directories(gradsync-test-runner PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(gradsync-test-runner PRIVATE gradsync gradsync-inside gradsync-options)
    foreach(source ${gradsync_suite_sources})
      # The suite's name is its file's name: tests/suites/gradsync-plan-suite.cc holds "gradsync-plan".
      get_filename_component(name ${source} NAME_WE)
      string(REGEX REPLACE "-suite$" "" name ${name})
      add_test(NAME suite.${name} COMMAND gradsync-test-runner --suite=${name} --stop-on-failure)
    endforeach()
  endif()
endif()

if(GRADSYNC_BENCHMARKS)
  # Once for all: CLI11 takes as long to compile as most of them.
  add_library(gradsync-bench STATIC ${gradsync_bench_sources})
  target_include_directories(gradsync-bench PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(gradsync-bench PUBLIC nlohmann_json::nlohmann_json fmt::fmt
    PRIVATE gradsync-options CLI11::CLI11)
  foreach(source ${gradsync_benchmarks})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE gradsync gradsync-stock gradsync-bench gradsync-options)
  endforeach()
endif()
