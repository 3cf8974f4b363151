# What find_package(thimble) brings: thimble::core (headers, models), thimble::checkpoint and thimble::host (threads,
# arena).
include(CMakePackageConfigHelpers)

install(TARGETS thimble_core thimble_checkpoint thimble_host EXPORT thimbleTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/models ${PROJECT_SOURCE_DIR}/ports
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thimble FILES_MATCHING PATTERN "*.hpp")
install(FILES ${THIMBLE_GENERATED}/core/checkpoint/checkpoint.pb.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thimble/core/checkpoint)
install(FILES core/checkpoint/checkpoint.proto core/checkpoint/checkpoint.options
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thimble/core/checkpoint)
if(TARGET thimble)
  install(TARGETS thimble RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT thimbleTargets NAMESPACE thimble:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thimble)
configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/thimbleConfig.cmake.in
  ${PROJECT_BINARY_DIR}/thimbleConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thimble)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/thimbleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/thimbleConfig.cmake ${PROJECT_BINARY_DIR}/thimbleConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thimble)
