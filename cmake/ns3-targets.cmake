# SPDX-License-Identifier: GPL-2.0-only
# Makes the imported targets of an installed ns-3 fit for use: after find_package(ns3), in this build and, by
# gradsync-config.cmake, in projects that use the installed gradsync.

# Packages of ns-3 name folders (Debian's, /usr/include/python3.11) and libraries (those of PyPI,
# /usr/lib64/libgsl.so) of the machine that built them, at which CMake stops. Nothing here needs them.
function(gradsync_keep_existing target property)
  get_target_property(entries ${target} ${property})
  if(NOT entries)
    return()
  endif()
  set(existing)
  foreach(entry ${entries})
    if(NOT IS_ABSOLUTE "${entry}" OR EXISTS "${entry}")
      list(APPEND existing "${entry}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES ${property} "${existing}")
endfunction()

# Imported targets belong to the folder whose find_package made them: this one, or one above it.
set(gradsync_folder ${CMAKE_CURRENT_SOURCE_DIR})
while(gradsync_folder)
  get_property(gradsync_targets DIRECTORY ${gradsync_folder} PROPERTY IMPORTED_TARGETS)
  foreach(gradsync_target ${gradsync_targets})
    if(gradsync_target MATCHES "^ns3::")
      gradsync_keep_existing(${gradsync_target} INTERFACE_INCLUDE_DIRECTORIES)
      gradsync_keep_existing(${gradsync_target} INTERFACE_LINK_LIBRARIES)
    endif()
  endforeach()
  get_property(gradsync_folder DIRECTORY ${gradsync_folder} PROPERTY PARENT_DIRECTORY)
endwhile()

# Imported targets are ns3::libcore up to ns-3.42 and ns3::core from 3.43.
function(gradsync_ns3_libraries output)
  set(libraries)
  foreach(module ${ARGN})
    if(TARGET ns3::lib${module})
      list(APPEND libraries ns3::lib${module})
    elseif(TARGET ns3::${module})
      list(APPEND libraries ns3::${module})
    else()
      message(FATAL_ERROR "The installed ns-3 has no module ${module}")
    endif()
  endforeach()
  set(${output} ${libraries} PARENT_SCOPE)
endfunction()
