# libxtts_reader.so, libxtts_builder.so and the installed package, as somebody else meets them. A sanitizer's build needs the
# sanitizer's libraries and is installed by nobody, so these tests are skipped there, aloud.
set(runtime "lib(stdc[+][+]|gcc_s|m|c)[.]so[.][0-9]+|ld-linux.*[.]so[.][0-9]+")
function(xtts_check_library test target allowed expected)
  add_test(NAME ${test}
    COMMAND ${CMAKE_COMMAND}
      -DLIBRARY=$<TARGET_FILE:${target}>
      -DNAME=${target}
      -DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/${expected}
      "-DALLOWED=${allowed}"
      -DREADELF=${CMAKE_READELF} -DNM=${CMAKE_NM}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/check_library.cmake)
endfunction()
xtts_check_library(reader_library.NeedsNothingAndShowsOnlyItsInterface xtts_reader "${runtime}" exported_reader_symbols.txt)
# Nothing of ours, and above all not the reader.
xtts_check_library(builder_library.NeedsItsToolsAndShowsOnlyItsInterface xtts_builder
  "${runtime}|lib(avformat|avcodec|avutil|soxr|yaml-cpp|z|lmdb|hdf5.*|fftw3f?)[.]so[.0-9]*" exported_builder_symbols.txt)

add_test(NAME reader_library.IsFoundByAThreeLineProgramWhenInstalled
  COMMAND ${CMAKE_COMMAND}
    -DBUILD_FOLDER=${PROJECT_BINARY_DIR}
    -DCONSUMER=${CMAKE_CURRENT_SOURCE_DIR}/install_consumer
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_check
    -DCXX=${CMAKE_CXX_COMPILER}
    -DCC=${CMAKE_C_COMPILER}
    -DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}
    -DGENERATOR=${CMAKE_GENERATOR}
    -DSOUND=${PROJECT_SOURCE_DIR}/tests/unit/decode/data/sweep_22050_1.flac
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_install.cmake)

if(CMAKE_CXX_FLAGS MATCHES "sanitize")
  set_tests_properties(
    reader_library.NeedsNothingAndShowsOnlyItsInterface
    builder_library.NeedsItsToolsAndShowsOnlyItsInterface
    reader_library.IsFoundByAThreeLineProgramWhenInstalled PROPERTIES DISABLED TRUE)
endif()
