# Asks the built library which libraries it needs and which names it exports.
# Needs LIBRARY, NAME (as in libNAME.so), READELF, NM, ALLOWED (a regular expression of the
# libraries that it may need), EXPECTED (a file with the names, one a line).

execute_process(COMMAND ${READELF} --wide --dynamic ${LIBRARY}
  OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]]*\\]" needed "${dynamic}")
if(NOT needed)
  message(FATAL_ERROR
    "no NEEDED entry found: is the output of ${READELF} what this test expects?\n${dynamic}")
endif()
foreach(entry ${needed})
  string(REGEX REPLACE ".*\\[(.*)\\]" "\\1" name "${entry}")
  if(NOT name MATCHES "^(${ALLOWED})$")
    message(SEND_ERROR "lib${NAME}.so needs ${name}")
  endif()
endforeach()
if(NOT dynamic MATCHES "SONAME[^\n]*\\[lib${NAME}\\.so\\.[0-9]+\\]")
  message(SEND_ERROR "the library's SONAME has no version:\n${dynamic}")
endif()

execute_process(COMMAND ${NM} --dynamic --defined-only --demangle ${LIBRARY} OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
set(seen "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^[0-9a-f]+ [A-Za-z] " "" name "${line}")
  string(REGEX REPLACE "\\[abi:[^]]*\\]" "" name "${name}")
  string(REGEX REPLACE "@+XTTS_[A-Z]+_[0-9]+$" "" name "${name}")
  string(REGEX REPLACE "\\(.*$" "" name "${name}")
  if(NOT name MATCHES "^XTTS_[A-Z]+_[0-9]+$")  # the version node itself
    list(APPEND seen "${name}")
  endif()
endforeach()
list(REMOVE_DUPLICATES seen)
list(SORT seen)
file(STRINGS ${EXPECTED} expected)
if(NOT seen STREQUAL expected)
  string(REPLACE ";" "\n  " seen_lines "${seen}")
  message(SEND_ERROR "the exported names differ from ${EXPECTED}; they are\n  ${seen_lines}")
endif()
