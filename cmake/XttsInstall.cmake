# `cmake --install` installs the program and, in libexec, its decoder; libxtts_reader.so and
# libxtts_builder.so with their headers; a CMake package (find_package(xtts), targets xtts::reader
# and xtts::builder); the shipped recipes; and the adviser (Python). It installs nothing static and no third-party
# header.
include(CMakePackageConfigHelpers)

if(TARGET xtts-precompute)
  install(TARGETS xtts-precompute RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS xtts-decode RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/xtts-precompute)
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

  # For programs that are not built with CMake: pkg-config --cflags --libs xtts-reader.
  set(xtts_pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH xtts_prefix_from_pkgconfig
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  file(RELATIVE_PATH xtts_libdir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH xtts_includedir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  function(xtts_install_pc target name description)
    set(xtts_pc_name ${name})
    set(xtts_pc_description ${description})
    set(xtts_pc_library ${target})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/xtts-library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${xtts_pkgconfig_folder})
  endfunction()
  xtts_install_pc(xtts_reader xtts-reader "Batches out of caches of speech features, from C and C++")
  if(TARGET xtts_builder)
    xtts_install_pc(xtts_builder xtts-builder "Builds and verifies caches of speech features, from C++")
  endif()
endif()

if(TARGET xtts-precompute)  # the adviser, which its commands hand over to
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/python/xtts_advise
    DESTINATION ${CMAKE_INSTALL_DATADIR}/xtts-precompute/python
    FILES_MATCHING PATTERN *.py PATTERN *.yaml PATTERN *.css PATTERN *.j2 PATTERN __pycache__ EXCLUDE)
endif()
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/configs/recipes)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/recipes
    DESTINATION ${CMAKE_INSTALL_DATADIR}/xtts-precompute FILES_MATCHING PATTERN *.yaml)
endif()
