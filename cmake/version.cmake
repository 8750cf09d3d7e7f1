# SPDX-License-Identifier: GPL-2.0-only
# What study/result/program-version.cc tells of this build. The commit is that of the last configure; a tree
# without git (a release archive) has none.
set(gradsync_version 0.1.0)
set(gradsync_commit "")
find_program(gradsync_git git)
if(gradsync_git)
  execute_process(
    COMMAND ${gradsync_git} -C ${CMAKE_CURRENT_LIST_DIR}/.. rev-parse --short=12 HEAD
    OUTPUT_VARIABLE gradsync_commit
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
  )
endif()

# Call it where the library is made: properties of source files hold in one directory only.
function(gradsync_set_version_definitions ns3_version)
  set_source_files_properties(
    study/result/program-version.cc PROPERTIES COMPILE_DEFINITIONS
    "GRADSYNC_VERSION=\"${gradsync_version}\";GRADSYNC_COMMIT=\"${gradsync_commit}\";GRADSYNC_NS3_VERSION=\"${ns3_version}\""
  )
endfunction()
