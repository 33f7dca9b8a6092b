# Installs into a fresh prefix, then configures, builds and runs install_consumer/ against it.
# Needs BUILD_FOLDER, CONSUMER (its source), WORK (scratch), CXX (the compiler), GENERATOR (of the build: the only
# build tool that is known to be there), SOUND (any).
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit ${code} of: ${ARGV}\n${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_FOLDER} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G "${GENERATOR}" -S ${CONSUMER} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)

execute_process(COMMAND ${WORK}/build/consumer ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 6 OR NOT out STREQUAL "not found 0\n")
  message(FATAL_ERROR "the consumer said '${out}' with exit ${code}")
endif()

# The installed builder finds the installed program by itself.
file(COPY ${SOUND} DESTINATION ${WORK}/data)
execute_process(COMMAND ${WORK}/build/maker ${WORK}/data ${WORK}/cache RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 0 OR NOT out STREQUAL "ok 1\n")
  message(FATAL_ERROR "the maker said '${out}' with exit ${code}")
endif()
