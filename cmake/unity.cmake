# SPDX-License-Identifier: GPL-2.0-only
# Most of the time of compiling this library goes into headers, and into templates and inline functions
# that many of its files need: two dozen at once take a third less time than in two parts.
set(gradsync_unit_files 28)

function(gradsync_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    # A log component is a static variable of its file, the same name in each.
    UNITY_BUILD_UNIQUE_ID g_log)
  foreach(source ${gradsync_sources})
    if(IS_ABSOLUTE ${source}) # generated
      continue()
    endif()
    # Files of one room at a time, so that a new file changes the company of its own room only.
    string(REGEX REPLACE "/[^/]*$" "" folder ${source})
    string(REGEX MATCH "^[a-z]+(/[^/]+)?" room ${folder})
    string(MAKE_C_IDENTIFIER "${room}" room)
    if(NOT DEFINED count_of_${room})
      set(count_of_${room} 0)
    endif()
    math(EXPR batch "${count_of_${room}} / ${gradsync_unit_files}")
    math(EXPR count_of_${room} "${count_of_${room}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${batch})
  endforeach()
  if(gradsync_precompile)
    target_precompile_headers(${target} PRIVATE ${gradsync_common_headers})
  endif()
endfunction()

# What most files read first, and what takes longest to read.
set(gradsync_common_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional>
  <limits> <map> <memory> <numeric> <optional> <random> <ranges> <set> <span> <sstream> <stdexcept>
  <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>
  <nlohmann/json.hpp> <ns3/double.h> <ns3/log.h> <ns3/nstime.h> <ns3/object.h> <ns3/simulator.h>
  <ns3/string.h> <ns3/uinteger.h>)

# GCC gains nothing by them (0.4 of 21 s, a unit of study/run), and ccache keeps nothing that was compiled so.
set(gradsync_precompile OFF)
if(GRADSYNC_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(gradsync_precompile ON)
endif()
