include(CMakePackageConfigHelpers)
install(TARGETS kqd EXPORT kqdTargets FILE_SET HEADERS)
install(EXPORT kqdTargets NAMESPACE kqd:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
configure_package_config_file(cmake/kqdConfig.cmake.in ${PROJECT_BINARY_DIR}/kqdConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kqdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kqdConfig.cmake ${PROJECT_BINARY_DIR}/kqdConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLASPrivate.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
