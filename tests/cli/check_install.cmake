# Installs into a fresh prefix, then configures, builds and runs install_consumer/ against it.
# Needs BUILD_FOLDER, CONSUMER (the folder of its source), WORK (scratch), CXX and CC (the
# compilers), GENERATOR (the build's: the only build tool that is known to be there), SOUND (any
# sound file). With PKG_CONFIG, it builds the consumers by pkg-config too.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit ${code} of: ${ARGV}\n${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_FOLDER} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G "${GENERATOR}" -S ${CONSUMER} -B ${WORK}/build
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)

execute_process(COMMAND ${WORK}/build/consumer ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 6 OR NOT out STREQUAL "not found 0\n")
  message(FATAL_ERROR "the consumer said '${out}' with exit ${code}")
endif()

# Builds the consumers by pkg-config, in C and in C++, without CMake.
if(PKG_CONFIG)
  file(GLOB_RECURSE pc ${WORK}/prefix/*/xtts-reader.pc)
  get_filename_component(pc_folder "${pc}" DIRECTORY)
  function(pkg_config out)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder} ${PKG_CONFIG} ${ARGN}
      RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "pkg-config ${ARGN}: ${text}")
    endif()
    separate_arguments(text UNIX_COMMAND "${text}")
    set(${out} ${text} PARENT_SCOPE)
  endfunction()
  pkg_config(reader_flags --cflags --libs xtts-reader)
  pkg_config(builder_flags --cflags --libs xtts-builder)
  pkg_config(folder --variable=libdir xtts-reader)
  run(${CC} -std=c99 -Wall -Werror -o ${WORK}/consumer_c ${CONSUMER}/consumer.c
    ${reader_flags} -Wl,-rpath,${folder})
  run(${CXX} -std=c++20 -o ${WORK}/maker_pc ${CONSUMER}/make.cpp
    ${builder_flags} -Wl,-rpath,${folder})
  execute_process(COMMAND ${WORK}/consumer_c ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out)
  if(NOT code EQUAL 6 OR NOT out STREQUAL "not found\n")
    message(FATAL_ERROR "the C consumer said '${out}' with exit ${code}")
  endif()
endif()

# The installed builder finds the installed program by itself.
file(COPY ${SOUND} DESTINATION ${WORK}/data)
execute_process(COMMAND ${WORK}/build/maker ${WORK}/data ${WORK}/cache
  RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 0 OR NOT out STREQUAL "ok 1\n")
  message(FATAL_ERROR "the maker said '${out}' with exit ${code}")
endif()

# The installed program finds its decoder, also when it is called through a link.
file(GLOB_RECURSE program ${WORK}/prefix/*/xtts-precompute)
list(FILTER program INCLUDE REGEX "/bin/")
file(CREATE_LINK ${program} ${WORK}/link SYMBOLIC)
run(${WORK}/link build ${WORK}/data ${WORK}/cache-of-program --quiet)
