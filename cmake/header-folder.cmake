# SPDX-License-Identifier: GPL-2.0-only
# Headers are included as "ns3/name.h", wherever they stand: a folder of links to them makes that so.
function(gradsync_link_headers folder)
  file(REMOVE_RECURSE ${folder})
  file(MAKE_DIRECTORY ${folder}/ns3)
  foreach(header ${ARGN})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${folder}/ns3/${name} SYMBOLIC)
  endforeach()
endfunction()
