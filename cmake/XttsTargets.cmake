# One library target a folder. The links spelled out here are the arrows of the architecture; tests/unit/architecture
# checks the #include lines against the same table.

# xtts_add_library(NAME SOURCES ... [PUBLIC_LINK ...] [PRIVATE_LINK ...])
# makes xtts_NAME from the calling folder. Position independent: the shared libraries are made of the same objects.
function(xtts_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC_LINK;PRIVATE_LINK" ${ARGN})
  add_library(xtts_${name} STATIC ${ARG_SOURCES})
  target_include_directories(xtts_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(xtts_${name} PUBLIC ${ARG_PUBLIC_LINK} PRIVATE xtts_warnings ${ARG_PRIVATE_LINK})
  set_target_properties(xtts_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# xtts_add_test(NAME SOURCES ... [LINK ...] [LABELS ...])
# makes a GoogleTest program; every TEST in it becomes one ctest entry.
function(xtts_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT XTTS_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} xtts_warnings GTest::gtest GTest::gmock GTest::gtest_main)
  # The libraries under test are optimized as ever; optimizing the tests themselves is up to half of their compile time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  target_compile_definitions(${name} PRIVATE XTTS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(NOT ARG_LABELS)
    set(ARG_LABELS ${name})  # an empty value would swallow the property behind it; so would a list
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()

# xtts_add_fuzzer(NAME SOURCES ... [LINK ...] [SEEDS folder])
# With XTTS_BUILD_FUZZERS (Clang): a libFuzzer program. Otherwise the same sources replay their seeds as a test, so that
# fuzzers do not rot and their findings stay mended.
function(xtts_add_fuzzer name)
  cmake_parse_arguments(ARG "" "SEEDS" "SOURCES;LINK" ${ARGN})
  if(XTTS_BUILD_FUZZERS)
    add_executable(${name} ${ARG_SOURCES})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${name} PRIVATE ${ARG_LINK} xtts_warnings)
  elseif(XTTS_BUILD_TESTS)
    add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    target_link_libraries(${name} PRIVATE ${ARG_LINK} xtts_warnings)
    add_test(NAME fuzz_replay.${name} COMMAND ${name} ${ARG_SEEDS})
    set_tests_properties(fuzz_replay.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endfunction()
