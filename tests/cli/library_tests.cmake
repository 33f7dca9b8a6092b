# libxtts_reader.so and the installed package, as somebody else meets them. A sanitizer's build needs the sanitizer's
# libraries and is installed by nobody, so both tests are skipped there, aloud.
add_test(NAME reader_library.NeedsNothingAndShowsOnlyItsInterface
  COMMAND ${CMAKE_COMMAND}
    -DLIBRARY=$<TARGET_FILE:xtts_reader>
    -DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/exported_symbols.txt
    "-DALLOWED=lib(stdc[+][+]|gcc_s|m|c)[.]so[.][0-9]+|ld-linux.*[.]so[.][0-9]+"
    -DREADELF=${CMAKE_READELF} -DNM=${CMAKE_NM}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_reader_library.cmake)

add_test(NAME reader_library.IsFoundByAThreeLineProgramWhenInstalled
  COMMAND ${CMAKE_COMMAND}
    -DBUILD_FOLDER=${PROJECT_BINARY_DIR}
    -DCONSUMER=${CMAKE_CURRENT_SOURCE_DIR}/install_consumer
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_check
    -DCXX=${CMAKE_CXX_COMPILER}
    -DGENERATOR=${CMAKE_GENERATOR}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_install.cmake)

if(CMAKE_CXX_FLAGS MATCHES "sanitize")
  set_tests_properties(
    reader_library.NeedsNothingAndShowsOnlyItsInterface
    reader_library.IsFoundByAThreeLineProgramWhenInstalled PROPERTIES DISABLED TRUE)
endif()
