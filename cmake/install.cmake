# SPDX-License-Identifier: GPL-2.0-only
# What `cmake --install` puts where: the library, the headers that are for others, the program, and the package
# that find_package(gradsync) finds.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(gradsync_package ${CMAKE_INSTALL_LIBDIR}/cmake/gradsync)

install(TARGETS gradsync EXPORT gradsync-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Where ns-3 is not in a folder of the system, the installed program finds it as the built one does.
set_target_properties(gradsync-program PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS gradsync-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Beside ns-3's own, none of which has one of these names (tests/in-tree.sh).
install(FILES ${gradsync_public_headers} ${gradsync_module_header}
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ns3)

# Some ready-made packages of ns-3 have no version that CMake can compare ("3.dev").
set(gradsync_ns3_version "")
if(ns3_VERSION MATCHES "^[0-9.]+$")
  set(gradsync_ns3_version "${ns3_VERSION} EXACT")
endif()
configure_package_config_file(cmake/gradsync-config.cmake.in ${CMAKE_BINARY_DIR}/gradsync-config.cmake
  INSTALL_DESTINATION ${gradsync_package} NO_SET_AND_CHECK_MACRO)
# Before 1.0 any release may change what programs use.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gradsync-config-version.cmake
  VERSION ${gradsync_version} COMPATIBILITY SameMinorVersion)
install(EXPORT gradsync-targets NAMESPACE gradsync:: DESTINATION ${gradsync_package})
install(FILES ${CMAKE_BINARY_DIR}/gradsync-config.cmake ${CMAKE_BINARY_DIR}/gradsync-config-version.cmake
  cmake/ns3-targets.cmake DESTINATION ${gradsync_package})
