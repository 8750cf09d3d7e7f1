# SPDX-License-Identifier: GPL-2.0-only
# Most of the time of compiling this library goes into headers: a dozen of its files at once take little
# longer than two of them.
function(gradsync_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  # A log component is a static variable of its file, the same name in each.
  foreach(source ${gradsync_sources})
    file(STRINGS ${source} log_component REGEX "^NS_LOG_COMPONENT_DEFINE" LIMIT_COUNT 1)
    if(log_component)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
