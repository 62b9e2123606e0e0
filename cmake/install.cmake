include(CMakePackageConfigHelpers)
install(TARGETS kqd EXPORT kqdTargets FILE_SET HEADERS)
install(EXPORT kqdTargets NAMESPACE kqd:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
configure_package_config_file(cmake/kqdConfig.cmake.in ${PROJECT_BINARY_DIR}/kqdConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kqdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kqdConfig.cmake ${PROJECT_BINARY_DIR}/kqdConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)

# pkg-config for the shared library only: a static one needs third parties, which find_package(kqd) finds.
if(BUILD_SHARED_LIBS)
  set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH KQD_PREFIX_FROM_PC /${pkgconfig} /)
  string(REGEX REPLACE "/$" "" KQD_PREFIX_FROM_PC ${KQD_PREFIX_FROM_PC})
  configure_file(cmake/kqd.pc.in ${PROJECT_BINARY_DIR}/kqd.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/kqd.pc DESTINATION ${pkgconfig})
endif()

# `cpack -G DEB` in a build folder makes a Debian package, whose dependencies follow from the linked libraries.
if(PROJECT_IS_TOP_LEVEL)
  install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_VENDOR kqd)
  set(CPACK_PACKAGE_CONTACT "the developers of kqd")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION math)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  include(CPack)
endif()
