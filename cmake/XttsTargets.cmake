# Each folder is one library target. Its links are the arrows of the architecture.
# tests/unit/architecture checks the #include lines against the same table.

# Third-party and standard headers that most of our files include, compiled once for the libraries
# and once for the tests. They save a sixth of a library file's compile time and a third of a
# test's. Files must still include what they need: the tsan preset builds without precompiled
# headers.
set(xtts_common_headers
  <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <unordered_map> <variant> <vector>
  <nlohmann/json.hpp>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang refuses compiled headers that do not have all of a target's options.
  add_compile_options(-pthread)
  add_compile_definitions(GTEST_HAS_PTHREAD=1)
  # g++ defines these by itself.
  foreach(sanitizer address thread)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=([a-z]*,)*${sanitizer}")
      string(TOUPPER "__SANITIZE_${sanitizer}__" name)
      add_compile_definitions(${name}=1)
    endif()
  endforeach()
endif()
set(CMAKE_PCH_WARN_INVALID OFF)  # a file with options of its own reads the headers as text

# xtts_precompile_headers(TARGET DONOR HEADERS...): TARGET uses the headers that DONOR has
# compiled. The first call makes DONOR. All targets that share a donor have the same options.
function(xtts_precompile_headers target donor)
  if(NOT TARGET ${donor})
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${donor}.cpp CONTENT "// Only compiled for its headers.\n")
    add_library(${donor} OBJECT ${PROJECT_BINARY_DIR}/${donor}.cpp)
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(options)
      target_compile_options(${donor} PRIVATE ${options})
    endif()
    get_target_property(is_pic ${target} POSITION_INDEPENDENT_CODE)
    if(is_pic)
      set_target_properties(${donor} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    target_precompile_headers(${donor} PRIVATE ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${donor})
endfunction()

# A unity build compiles several files in one compiler run, in less than half of the time. Users
# and CI build so; dev does not, because there one file changes at a time. Files whose helpers
# have the names of others in the folder stand APART.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

# xtts_add_library(NAME [HOT | COLD] [OWN_OPTIONS] SOURCES ... [APART ...] [PUBLIC_LINK ...]
#                  [PRIVATE_LINK ...])
# makes xtts_NAME from the calling folder. The objects are position independent, because the shared
# libraries are made of them too.
# HOT: optimized under the address sanitizer too. Its preset optimizes nothing else, which saves a
# third of the compile time.
# COLD: it computes on no clip and no batch, so it is optimized less. That saves a third of its compile
# time, for users too.
# OWN_OPTIONS: the folder sets compile options, so it cannot share compiled headers.
function(xtts_add_library name)
  cmake_parse_arguments(ARG "HOT;COLD;OWN_OPTIONS" "" "SOURCES;APART;PUBLIC_LINK;PRIVATE_LINK" ${ARGN})
  add_library(xtts_${name} STATIC ${ARG_SOURCES} ${ARG_APART})
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(xtts_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(xtts_${name} PUBLIC ${ARG_PUBLIC_LINK} PRIVATE xtts_warnings ${ARG_PRIVATE_LINK})
  set_target_properties(xtts_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(ARG_HOT AND CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O0")
    target_compile_options(xtts_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  elseif(ARG_COLD AND NOT CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O0")
    target_compile_options(xtts_${name} PRIVATE $<$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>:-O1>)
    xtts_precompile_headers(xtts_${name} xtts_cold_headers ${xtts_common_headers})
  elseif(NOT ARG_OWN_OPTIONS)
    xtts_precompile_headers(xtts_${name} xtts_library_headers ${xtts_common_headers})
  endif()
endfunction()

# `tests/run.sh` builds these targets and runs the tests with these labels under the sanitizers.
add_custom_target(under_address)
add_custom_target(under_thread)

# xtts_add_test(NAME [SANITIZERS address thread] SOURCES ... [APART ...] [LINK ...] [LABELS ...])
# makes a GoogleTest program; every TEST in it becomes one ctest entry.
# SANITIZERS: those that CI runs it under, beside the plain run. `address`: it handles memory or
# bytes of others; `thread`: its code runs in several threads.
function(xtts_add_test name)
  cmake_parse_arguments(ARG "" "" "SANITIZERS;SOURCES;APART;LINK;LABELS" ${ARGN})
  if(NOT XTTS_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_APART})
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} xtts_warnings GTest::gtest GTest::gmock GTest::gtest_main)
  # Only the libraries under test are optimized. Optimizing the tests would take up to half of their
  # compile time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  # GoogleTest says which line fails. A debugger's lines would take a sixth of the compile time, so
  # only dev has them.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g0>)
  endif()
  # The libraries are checked for undefined behaviour, the tests are not: the checks take a third
  # of a file's compile time, measured on two tests.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  xtts_precompile_headers(${name} xtts_test_headers ${xtts_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  target_compile_definitions(${name} PRIVATE XTTS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(NOT ARG_LABELS)
    set(ARG_LABELS ${name})
  endif()
  foreach(sanitizer ${ARG_SANITIZERS})
    # One word: an empty value would swallow the property behind it, and so would a list.
    string(APPEND ARG_LABELS "+under_${sanitizer}")
    add_dependencies(under_${sanitizer} ${name})
  endforeach()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
  # CMake would list a program that is not built as a test that fails.
  get_property(includes DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(POP_BACK includes)
  set(when_built ${CMAKE_CURRENT_BINARY_DIR}/${name}.cmake)
  file(WRITE ${when_built} "include([==[${CMAKE_CURRENT_BINARY_DIR}/${name}[1]_tests.cmake]==] OPTIONAL)\n")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${includes} ${when_built})
endfunction()

# xtts_add_script_test(NAME NEEDS TARGET ... COMMAND ... [PROPERTIES ...])
# makes one ctest entry, which is there once the TARGETs are built.
function(xtts_add_script_test name)
  cmake_parse_arguments(ARG "" "" "NEEDS;COMMAND;PROPERTIES" ${ARGN})
  # No "TRUE AND": ctest reads the file by the policies of CMake 2.x, to which TRUE is an unset
  # variable.
  list(TRANSFORM ARG_NEEDS REPLACE "(.+)" "EXISTS [==[$<TARGET_FILE:\\1>]==]" OUTPUT_VARIABLE condition)
  list(JOIN condition " AND " condition)
  list(JOIN ARG_COMMAND "]==] [==[" command)
  set(properties "")
  if(ARG_PROPERTIES)
    list(JOIN ARG_PROPERTIES "]==] [==[" properties)
    set(properties "  set_tests_properties([==[${name}]==] PROPERTIES [==[${properties}]==])\n")
  endif()
  set(when_built ${CMAKE_CURRENT_BINARY_DIR}/${name}.cmake)
  file(GENERATE OUTPUT ${when_built}
    CONTENT "if(${condition})\n  add_test([==[${name}]==] [==[${command}]==])\n${properties}endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${when_built})
endfunction()

# xtts_add_fuzzer(NAME SOURCES ... [LINK ...] [SEEDS folder])
# With XTTS_BUILD_FUZZERS (Clang), makes a libFuzzer program. Otherwise the same sources replay
# their seeds as a test, so that fuzzers do not rot and their findings stay fixed.
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
    add_dependencies(under_address ${name})
    xtts_add_script_test(${name}.replay NEEDS ${name} COMMAND $<TARGET_FILE:${name}> ${ARG_SEEDS}
      PROPERTIES LABELS fuzz+under_address TIMEOUT 300)
  endif()
endfunction()
