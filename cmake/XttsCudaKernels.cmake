# CUDA kernels, embedded in a library. Nothing of CUDA is linked.

# The kernels lie in the sources as PTX, which the driver compiles. Where NVIDIA's compiler is found,
# compiled kernels are embedded beside it. XTTS_NVCC names that compiler; "no": PTX alone.
find_program(XTTS_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
  DOC "NVIDIA's compiler, for the CUDA kernels; 'no': they are embedded as PTX alone")
# Bits equal the host's: no contraction, exact division and roots, subnormal numbers.
set(xtts_nvcc_options -std=c++20 --expt-relaxed-constexpr -fmad=false -ftz=false -prec-div=true
  -prec-sqrt=true -O3 -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include)

# Sets `works` to whether this nvcc compiles a file of the kernels, and says why not. A toolkit may
# lie there that cannot: of CUDA 11, as Debian 12 has it, one without all of its programs, or one that
# does not know the compiler of the host. This takes a second. It is not remembered, because the
# toolkit at a path may become another one.
function(xtts_try_nvcc nvcc works)
  execute_process(
    COMMAND ${nvcc} ${xtts_nvcc_options} -fatbin -gencode arch=compute_75,code=sm_75
            -o ${PROJECT_BINARY_DIR}/CMakeFiles/tried_nvcc.fatbin
            ${PROJECT_SOURCE_DIR}/src/cuda/kernels/kernels.cu
    RESULT_VARIABLE result OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(result EQUAL 0)
    set(${works} ON PARENT_SCOPE)
    return()
  endif()
  string(REGEX MATCH "[^\n]*(error|fatal)[^\n]*" line "${words}")
  if(NOT line)
    set(line "${result}")
  endif()
  message(STATUS "${nvcc} cannot compile the CUDA kernels (${line})")
  set(${works} OFF PARENT_SCOPE)
endfunction()

set(xtts_nvcc_is_there OFF)
if(XTTS_NVCC AND NOT XTTS_NVCC STREQUAL "no")
  xtts_try_nvcc(${XTTS_NVCC} xtts_nvcc_is_there)
  # The one in PATH may be an old one of the system, beside NVIDIA's own.
  if(NOT xtts_nvcc_is_there AND EXISTS /usr/local/cuda/bin/nvcc
      AND NOT XTTS_NVCC STREQUAL /usr/local/cuda/bin/nvcc)
    xtts_try_nvcc(/usr/local/cuda/bin/nvcc xtts_nvcc_is_there)
    set(XTTS_NVCC /usr/local/cuda/bin/nvcc)
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
  list(JOIN xtts_cuda_architectures ", " names)
  message(STATUS "CUDA kernels: PTX, and for ${names} by ${XTTS_NVCC}")
else()
  message(STATUS "CUDA kernels: PTX alone, which the driver compiles")
endif()

# xtts_embed_cuda_kernels(OUTPUT SYMBOL SOURCE) sets OUTPUT to a C++ file that defines the kernels of
# SOURCE as the driver loads them: `SYMBOL`, compiled, and `SYMBOL_ptx` for where that does not load.
function(xtts_embed_cuda_kernels output symbol source)
  get_filename_component(name ${source} NAME_WE)
  set(embedding_file ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  xtts_stored_ptx(ptx ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  set(embedded ${ptx})
  set(compiled "")
  if(xtts_nvcc_is_there)
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
    list(APPEND embedded ${image})
    set(compiled ".incbin \"${image}\"")
    # Code for one architecture runs on all later ones of the same generation (80: 80 to 89).
    set(code "")
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
    add_custom_target(store_ptx_of_${name}
      COMMAND ${CMAKE_COMMAND} -DNVCC=${XTTS_NVCC} "-DOPTIONS=${xtts_nvcc_options}"
              -DROOT=${PROJECT_SOURCE_DIR} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source} -DPTX=${ptx}
              -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}
              -P ${PROJECT_SOURCE_DIR}/cmake/store_ptx.cmake
      VERBATIM)
    if(NOT TARGET store_ptx)
      add_custom_target(store_ptx)
    endif()
    add_dependencies(store_ptx store_ptx_of_${name})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded_kernels.cpp.in ${embedding_file} @ONLY)
  set_source_files_properties(${embedding_file} PROPERTIES
    OBJECT_DEPENDS "${embedded}" SKIP_PRECOMPILE_HEADERS ON)
  set(${output} ${embedding_file} PARENT_SCOPE)
endfunction()

# xtts_stored_ptx(OUTPUT SOURCE) sets OUTPUT to the file beside SOURCE that has its kernels as PTX.
function(xtts_stored_ptx output source)
  string(REGEX REPLACE "\\.cu$" ".ptx" ptx ${source})
  set(${output} ${ptx} PARENT_SCOPE)
endfunction()

# xtts_give_ptx(TARGET DEFINITION SOURCE) gives tests the kernels of SOURCE (below src) as PTX. The
# macro DEFINITION names the stored file and, where there is a compiler, behind a colon the file that
# this compiler has written, by the options of the embedded kernels.
function(xtts_give_ptx target definition source)
  if(NOT TARGET ${target})
    return()
  endif()
  xtts_stored_ptx(files ${PROJECT_SOURCE_DIR}/src/${source})
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
    string(APPEND files :${ptx})
  endif()
  target_compile_definitions(${target} PRIVATE ${definition}="${files}")
endfunction()
