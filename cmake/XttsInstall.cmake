# What `cmake --install` gives: the program, libxtts_reader.so and libxtts_builder.so with their headers, a CMake package
# (find_package(xtts), targets xtts::reader and xtts::builder) and the shipped recipes. Nothing static and no third-party header is installed.
include(CMakePackageConfigHelpers)

if(TARGET xtts-precompute)
  install(TARGETS xtts-precompute RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(TARGET xtts_reader)
  set(xtts_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/xtts)
  install(TARGETS xtts_reader EXPORT xttsTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/xtts DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN *.h PATTERN *.hpp)
  if(TARGET xtts_builder)
    install(TARGETS xtts_builder EXPORT xttsTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(EXPORT xttsTargets NAMESPACE xtts:: DESTINATION ${xtts_package_folder})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/xttsConfig.cmake.in
    ${PROJECT_BINARY_DIR}/xttsConfig.cmake INSTALL_DESTINATION ${xtts_package_folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/xttsConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/xttsConfig.cmake ${PROJECT_BINARY_DIR}/xttsConfigVersion.cmake
    DESTINATION ${xtts_package_folder})
endif()

if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/configs/recipes)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/recipes
    DESTINATION ${CMAKE_INSTALL_DATADIR}/xtts-precompute FILES_MATCHING PATTERN *.yaml)
endif()
