# SPDX-License-Identifier: GPL-2.0-only
# The compiled P4 programs as a source file of the library, for both modes of building.
set(gradsync_compiled ${CMAKE_CURRENT_SOURCE_DIR}/p4-behavioral/compiled)
file(READ ${gradsync_compiled}/slot-aggregation.json gradsync_slot_program)
file(READ ${gradsync_compiled}/slot-aggregation-saturate.json gradsync_saturating_slot_program)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${gradsync_compiled}/slot-aggregation.json ${gradsync_compiled}/slot-aggregation-saturate.json)
set(gradsync_embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded/p4-compiled-programs.cc)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/p4-compiled-programs.cc.in ${gradsync_embedded}
  @ONLY)
list(APPEND gradsync_sources ${gradsync_embedded})
# Long texts, of which Clang's -Wpedantic warns. GCC knows the option and does not.
set_source_files_properties(${gradsync_embedded} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
