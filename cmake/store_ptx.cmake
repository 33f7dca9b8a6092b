# cmake -DNVCC=... -DOPTIONS=... -DSOURCE=KERNELS.cu -DPTX=KERNELS.ptx -P store_ptx.cmake
# translates kernels to PTX that all drivers for CUDA 12 and later compile, and stores it.

# What every driver reads, whatever toolkit translates: PTX 8.0, for the architectures from 75 on.
set(version 8.0)
execute_process(COMMAND ${NVCC} ${OPTIONS} -ptx -arch compute_75 -o ${PTX} ${SOURCE}
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PTX} text)
get_filename_component(name ${SOURCE} NAME)
# Newer toolkits write the version of their own, and hints that 8.0 does not have.
string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version ${version}" text "${text}")
string(REGEX REPLACE "\n[ \t]*\\.pragma \"used_bytes_mask [^\n]*" "" text "${text}")
file(WRITE ${PTX} "// ${name} for builds without nvcc. Written by: cmake --build build/check --target store_ptx\n${text}")
# The toolkit's assembler says whether anything else is newer than the version.
get_filename_component(toolkit ${NVCC} DIRECTORY)
execute_process(COMMAND ${toolkit}/ptxas -arch sm_75 -o ${PTX}.cubin ${PTX} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${PTX}.cubin)
