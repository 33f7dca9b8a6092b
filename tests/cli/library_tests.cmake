# Tests libxtts_reader.so, libxtts_builder.so and the installed package as users meet them. A
# sanitizer's build needs the sanitizer's libraries, and nobody installs it. So ctest shows these
# tests as disabled there.
set(with_sanitizer FALSE)
if(CMAKE_CXX_FLAGS MATCHES "sanitize")
  set(with_sanitizer TRUE)
endif()
set(runtime "lib(stdc[+][+]|gcc_s|m|c)[.]so[.][0-9]+|ld-linux.*[.]so[.][0-9]+")
function(xtts_check_library test target allowed expected)
  xtts_add_script_test(${test} NEEDS ${target}
    COMMAND ${CMAKE_COMMAND}
      -DLIBRARY=$<TARGET_FILE:${target}>
      -DNAME=${target}
      -DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/${expected}
      "-DALLOWED=${allowed}"
      -DREADELF=${CMAKE_READELF} -DNM=nm  # LLVM's shows versioned names as they are
      -P ${CMAKE_CURRENT_SOURCE_DIR}/check_library.cmake
    PROPERTIES DISABLED ${with_sanitizer})
endfunction()
xtts_check_library(reader_library.NeedsNothingAndShowsOnlyItsInterface
  xtts_reader "${runtime}" exported_reader_symbols.txt)
# The builder may need no library of ours, above all not the reader, and no codec, because only
# xtts-decode links codecs. It needs Arrow where Arrow was found.
set(tools "${runtime}|lib(soxr|yaml-cpp|z|lmdb|fftw3f?|arrow|parquet)[.]so[.0-9]*")
xtts_check_library(builder_library.NeedsItsToolsAndShowsOnlyItsInterface
  xtts_builder "${tools}" exported_builder_symbols.txt)

# Checks all that the system's loader brings in: the libraries that a file links, and those that
# these link in turn.
function(xtts_check_needs test target allowed)
  xtts_add_script_test(${test} NEEDS ${target}
    COMMAND ${CMAKE_COMMAND} -DFILE=$<TARGET_FILE:${target}> "-DALLOWED=${allowed}"
      -P ${CMAKE_CURRENT_SOURCE_DIR}/check_needs.cmake
    PROPERTIES ${ARGN})
endfunction()
set(all_tools "${tools}|lib(gomp|pthread|dl|rt)[.]so[.][0-9]+|linux-(vdso|gate).*")
xtts_check_needs(program.LoadsNoCodec xtts-precompute "${all_tools}" DISABLED ${with_sanitizer})
xtts_check_needs(builder_library.LoadsNoCodec xtts_builder "${all_tools}" DISABLED ${with_sanitizer})
# Proves that the tests above would find a codec.
xtts_check_needs(decoder.LoadsTheCodecs xtts-decode "${all_tools}"
  PASS_REGULAR_EXPRESSION "xtts-decode loads libavcodec")

xtts_add_script_test(reader_library.IsFoundByAThreeLineProgramWhenInstalled
  NEEDS xtts_reader xtts_builder xtts-precompute
  COMMAND ${CMAKE_COMMAND}
    -DBUILD_FOLDER=${PROJECT_BINARY_DIR}
    -DCONSUMER=${CMAKE_CURRENT_SOURCE_DIR}/install_consumer
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_check
    -DCXX=${CMAKE_CXX_COMPILER}
    -DCC=${CMAKE_C_COMPILER}
    -DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}
    -DGENERATOR=${CMAKE_GENERATOR}
    -DSOUND=${PROJECT_SOURCE_DIR}/tests/unit/decode/data/sweep_22050_1.flac
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_install.cmake
  PROPERTIES DISABLED ${with_sanitizer})
