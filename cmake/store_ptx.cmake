# cmake -DNVCC=... -DOPTIONS=... -DROOT=PROJECT -DSOURCE=KERNELS.cu -DPTX=KERNELS.ptx -DFOLDER=... -P this file
# translates kernels to PTX that all drivers for CUDA 12 and later compile, and stores it in the
# sources. FOLDER takes files that are needed on the way.

# What every driver reads, whatever toolkit translates: PTX 8.0, for the architectures from 75 on.
set(version 8.0)
get_filename_component(toolkit ${NVCC} DIRECTORY)
find_program(PTXAS ptxas HINTS ${toolkit} REQUIRED)
get_filename_component(name ${SOURCE} NAME)
set(made ${FOLDER}/${name}.ptx)
execute_process(COMMAND ${NVCC} ${OPTIONS} -ptx -arch compute_75 -o ${made} ${SOURCE}
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${made} text)
# Newer toolkits write the version of their own, and hints that 8.0 does not have.
string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version ${version}" text "${text}")
string(REGEX REPLACE "\n[ \t]*\\.pragma \"used_bytes_mask [^\n]*" "" text "${text}")
execute_process(COMMAND ${NVCC} ${OPTIONS} -MM ${SOURCE} OUTPUT_VARIABLE named COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "${ROOT}/(src|include)/[^ \n]+" files "${named}")
list(TRANSFORM files REPLACE "^${ROOT}/" "")
list(SORT files)
list(REMOVE_DUPLICATES files)
include(${CMAKE_CURRENT_LIST_DIR}/ptx_sources.cmake)
xtts_digest_of(digest ${ROOT} ${files})
list(JOIN files " " files)
set(head "// The kernels of ${name}. Written by: cmake --build build/check --target store_ptx
// sources: ${digest} ${files}")
file(WRITE ${made} "${head}\n${text}")
# The toolkit's assembler says whether anything else is newer than the version.
execute_process(COMMAND ${PTXAS} -arch sm_75 -o ${made}.cubin ${made} COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${made} ${PTX})
