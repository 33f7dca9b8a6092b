# CUDA kernels, embedded as they are in a library. Nothing of CUDA is linked.

# XTTS_NVCC names the compiler; "no" leaves the kernels out.
find_program(XTTS_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
  DOC "NVIDIA's compiler, for the CUDA kernels; 'no' builds without them")
# Bits equal the host's: no contraction, exact division and roots, subnormal numbers.
set(xtts_nvcc_options -std=c++20 --expt-relaxed-constexpr -fmad=false -ftz=false -prec-div=true
  -prec-sqrt=true -O3 -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include)

# Sets `works` to whether this nvcc compiles a file of the kernels, and `failure` to its first error.
# A toolkit may lie there that cannot: of CUDA 11, as Debian 12 has it, or one that does not know the
# compiler of the host. A success is remembered.
function(xtts_try_nvcc nvcc works failure)
  set(${works} ON PARENT_SCOPE)
  if(xtts_nvcc_that_works STREQUAL nvcc)
    return()
  endif()
  execute_process(
    COMMAND ${nvcc} ${xtts_nvcc_options} -ptx -arch compute_75
            -o ${PROJECT_BINARY_DIR}/CMakeFiles/tried_nvcc.ptx
            ${PROJECT_SOURCE_DIR}/src/cuda/kernels/kernels.cu
    RESULT_VARIABLE result OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(result EQUAL 0)
    set(xtts_nvcc_that_works ${nvcc} CACHE INTERNAL "The nvcc that has compiled a kernel")
    return()
  endif()
  set(${works} OFF PARENT_SCOPE)
  string(REGEX MATCH "[^\n]*(error|fatal)[^\n]*" line "${words}")
  if(NOT line)
    set(line ${result})
  endif()
  set(${failure} ${line} PARENT_SCOPE)
endfunction()

set(xtts_nvcc_is_there OFF)
if(XTTS_NVCC AND NOT XTTS_NVCC STREQUAL "no")
  xtts_try_nvcc(${XTTS_NVCC} xtts_nvcc_is_there failure)
  # The one in PATH may be an old one of the system, beside NVIDIA's own.
  if(NOT xtts_nvcc_is_there AND EXISTS /usr/local/cuda/bin/nvcc)
    xtts_try_nvcc(/usr/local/cuda/bin/nvcc xtts_nvcc_is_there other_failure)
    if(xtts_nvcc_is_there)
      set(XTTS_NVCC /usr/local/cuda/bin/nvcc)
    endif()
  endif()
  if(NOT xtts_nvcc_is_there)
    message(WARNING "No CUDA kernels: ${XTTS_NVCC} cannot compile them (${failure}). CUDA 12 and 13 "
      "can. -DXTTS_NVCC=FILE names another nvcc, and the environment's CUDA_HOME another toolkit.")
  endif()
endif()

set(xtts_cuda_architectures "")  # those that this compiler knows
if(xtts_nvcc_is_there)
  execute_process(COMMAND ${XTTS_NVCC} --list-gpu-code OUTPUT_VARIABLE xtts_known_code ERROR_QUIET)
  foreach(architecture 75 80 90 100 110 120)
    if(xtts_known_code MATCHES "sm_${architecture}[^0-9a-z]")
      list(APPEND xtts_cuda_architectures ${architecture})
    endif()
  endforeach()
  message(STATUS "CUDA kernels: ${XTTS_NVCC}")
else()
  message(STATUS "CUDA kernels: none, for want of an nvcc; the device 'cuda' will say so")
endif()

# xtts_embed_cuda_kernels(OUTPUT SYMBOL SOURCE) sets OUTPUT to a C++ file that defines `SYMBOL` (the
# compiled kernels of SOURCE) and `SYMBOL_bytes` (their size; 0 without a compiler).
function(xtts_embed_cuda_kernels output symbol source)
  get_filename_component(name ${source} NAME_WE)
  set(embedding_file ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(embedding "")
  if(xtts_nvcc_is_there)
    # Code for one architecture runs on all later ones of the same generation (80: 80 to 89). PTX is
    # for generations to come.
    set(code -gencode arch=compute_75,code=compute_75)
    foreach(architecture ${xtts_cuda_architectures})
      list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
    endforeach()
    add_custom_command(
      OUTPUT ${image}
      COMMAND ${XTTS_NVCC} ${xtts_nvcc_options} -Xfatbin -compress-all -MD -MF ${image}.d
              -fatbin ${code} -o ${image} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      DEPENDS ${source}
      DEPFILE ${image}.d
      COMMENT "Compiling the CUDA kernels of ${source}"
      VERBATIM)
    set(embedding ".incbin \"${image}\"")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded_kernels.cpp.in ${embedding_file} @ONLY)
  if(embedding)
    set_source_files_properties(${embedding_file} PROPERTIES OBJECT_DEPENDS ${image})
  endif()
  set_source_files_properties(${embedding_file} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set(${output} ${embedding_file} PARENT_SCOPE)
endfunction()

# xtts_give_ptx(TARGET DEFINITION SOURCE) compiles the kernels of SOURCE (below src) to PTX, by the
# options of the embedded ones. TARGET finds the file's path in the macro DEFINITION; without a
# compiler, an empty path.
function(xtts_give_ptx target definition source)
  if(NOT TARGET ${target})
    return()
  endif()
  set(ptx "")
  if(xtts_nvcc_is_there)
    get_filename_component(name ${source} NAME_WE)
    set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx)
    add_custom_command(
      OUTPUT ${ptx}
      COMMAND ${XTTS_NVCC} ${xtts_nvcc_options} -MD -MF ${ptx}.d -ptx -arch compute_75 -o ${ptx}
              ${PROJECT_SOURCE_DIR}/src/${source}
      DEPENDS ${PROJECT_SOURCE_DIR}/src/${source}
      DEPFILE ${ptx}.d
      COMMENT "Compiling the CUDA kernels of ${source} to PTX"
      VERBATIM)
    target_sources(${target} PRIVATE ${ptx})
  endif()
  target_compile_definitions(${target} PRIVATE ${definition}="${ptx}")
endfunction()
