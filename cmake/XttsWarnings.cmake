# Warnings for our own code only. Targets link them PRIVATE, so no user of an installed library
# inherits them.
add_library(xtts_warnings INTERFACE)
target_compile_options(xtts_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wundef
  # Clang's warns of assignments, too.
  $<$<CXX_COMPILER_ID:GNU>:-Wdouble-promotion>
  # Clang's -Wconversion has -Wsign-conversion in it, g++'s has not.
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-sign-conversion>
  # GCC 12 sees an overlap in std::string's own operator+ (GCC bug 105329).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # In a unity build, GCC takes the anonymous namespaces of the grouped files for those of headers.
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  $<$<BOOL:${XTTS_WERROR}>:-Werror>)
