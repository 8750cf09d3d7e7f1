# SPDX-License-Identifier: GPL-2.0-only
# Congestion controls are found by ns-3's registry of types. A linker takes from a static library only
# the object files that somebody asks for, and nobody asks for theirs: the source file made here does, for
# every X-control.cc of their folder, which holds the class XControl.
set(gradsync_control_headers "")
set(gradsync_control_types "")
foreach(source ${gradsync_sources})
  if(source MATCHES "^model/transport/congestion/(.+)-control\\.cc$" AND NOT CMAKE_MATCH_1 STREQUAL "congestion")
    set(name ${CMAKE_MATCH_1})
    string(REPLACE "-" ";" words ${name})
    set(class "")
    foreach(word ${words})
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND class ${first}${rest})
    endforeach()
    string(APPEND gradsync_control_headers "#include \"ns3/${name}-control.h\"\n")
    string(APPEND gradsync_control_types "    ${class}Control::GetTypeId();\n")
  endif()
endforeach()
set(gradsync_required_controls ${CMAKE_CURRENT_BINARY_DIR}/embedded/required-congestion-controls.cc)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/required-congestion-controls.cc.in
  ${gradsync_required_controls} @ONLY)
list(APPEND gradsync_sources ${gradsync_required_controls})
