# SPDX-License-Identifier: GPL-2.0-only
# Runs an example and compares what it prints with what it is to print, line by line:
#   cmake -DPROGRAM=... -DEXPECTED=... -P run-example.cmake
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE code)
file(READ ${EXPECTED} expected)
if(NOT code EQUAL 0 OR NOT complaint STREQUAL "" OR NOT printed STREQUAL expected)
  message(FATAL_ERROR "exit code ${code}; it printed\n${printed}${complaint}but should print\n${expected}")
endif()
