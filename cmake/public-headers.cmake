# SPDX-License-Identifier: GPL-2.0-only
# What programs of others may include: helper/gradsync.h and what that includes, directly or not. Only these
# are installed, and exported to other modules of an ns-3 tree; the rest stays inside.
function(gradsync_find_public_headers output)
  get_filename_component(tree ${CMAKE_CURRENT_FUNCTION_LIST_DIR} DIRECTORY)
  set(public)
  set(waiting helper/gradsync.h)
  while(waiting)
    list(POP_FRONT waiting header)
    list(APPEND public ${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tree}/${header})
    file(STRINGS ${tree}/${header} includes REGEX "^#include \"ns3/")
    foreach(include ${includes})
      string(REGEX REPLACE "^#include \"ns3/(.*)\\.h\"" "/\\1\\\\.h$" name "${include}")
      # Names are ours alone: what is not found here is ns-3's.
      set(found ${gradsync_headers})
      list(FILTER found INCLUDE REGEX "${name}")
      if(found AND NOT found IN_LIST public AND NOT found IN_LIST waiting)
        list(APPEND waiting ${found})
      endif()
    endforeach()
  endwhile()
  list(SORT public)
  set(${output} ${public} PARENT_SCOPE)
endfunction()

gradsync_find_public_headers(gradsync_public_headers)
set(gradsync_inner_headers ${gradsync_headers})
list(REMOVE_ITEM gradsync_inner_headers ${gradsync_public_headers})
