include(CMakePackageConfigHelpers)
# A static libkqd.a carries kqd_compile_settings in its link interface, so the settings are exported with it.
install(TARGETS kqd EXPORT kqdTargets FILE_SET HEADERS)
if(NOT BUILD_SHARED_LIBS)
  install(TARGETS kqd_compile_settings EXPORT kqdTargets)
endif()
install(EXPORT kqdTargets NAMESPACE kqd:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
configure_package_config_file(cmake/kqdConfig.cmake.in ${PROJECT_BINARY_DIR}/kqdConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kqdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kqdConfig.cmake ${PROJECT_BINARY_DIR}/kqdConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLASPrivate.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kqd)
