# Third-party libraries, each for its field. All are Debian packages (cli/run.sh installs them).
find_package(Threads REQUIRED)

# The reader needs headers alone, so that libxtts_reader.so links nothing.
find_path(XTTS_XXHASH_INCLUDE xxhash.h)
find_path(XTTS_FMT_INCLUDE NAMES fmt/base.h fmt/core.h)
find_package(nlohmann_json 3.10 QUIET)
if(NOT XTTS_XXHASH_INCLUDE)
  message(FATAL_ERROR "xxhash.h was not found: apt-get install libxxhash-dev")
endif()
if(NOT XTTS_FMT_INCLUDE)
  message(FATAL_ERROR "{fmt}'s headers were not found: apt-get install libfmt-dev")
endif()
if(NOT nlohmann_json_FOUND)
  message(FATAL_ERROR "nlohmann/json.hpp, 3.10 or later, was not found: apt-get install nlohmann-json3-dev")
endif()
add_library(xxhash_header INTERFACE)  # XXH_INLINE_ALL
target_include_directories(xxhash_header SYSTEM INTERFACE ${XTTS_XXHASH_INCLUDE})
add_library(fmt_headers INTERFACE)
target_include_directories(fmt_headers SYSTEM INTERFACE ${XTTS_FMT_INCLUDE})

if(NOT XTTS_BUILD_TOOLS)
  return()
endif()

# One message names all that is missing. With AUTO, the tools are left out instead.
find_package(PkgConfig QUIET)
find_package(yaml-cpp QUIET)
find_package(CLI11 QUIET)
find_package(ZLIB QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(FFMPEG QUIET IMPORTED_TARGET libavformat libavcodec libavutil)
  pkg_check_modules(SOXR QUIET IMPORTED_TARGET soxr)
  pkg_check_modules(FFTW QUIET IMPORTED_TARGET fftw3 fftw3f)
  pkg_search_module(HDF5 QUIET IMPORTED_TARGET hdf5 hdf5-serial)  # its C library
endif()
find_path(XTTS_LMDB_INCLUDE lmdb.h)
find_library(XTTS_LMDB_LIBRARY lmdb)
set(LMDB_FOUND OFF)
if(XTTS_LMDB_INCLUDE AND XTTS_LMDB_LIBRARY)
  set(LMDB_FOUND ON)
endif()

set(tools_missing "")
foreach(name PkgConfig yaml-cpp CLI11 ZLIB FFMPEG SOXR FFTW HDF5 LMDB)
  if(NOT ${name}_FOUND)
    list(APPEND tools_missing ${name})
  endif()
endforeach()
if(tools_missing)
  list(JOIN tools_missing ", " tools_missing)
  if(NOT XTTS_BUILD_TOOLS STREQUAL "AUTO")
    message(FATAL_ERROR "not found: ${tools_missing}. cli/run.sh installs what is missing on Debian and Ubuntu; "
      "XTTS_BUILD_TOOLS=OFF builds the reader alone")
  endif()
  message(STATUS "The reader alone is built: not found: ${tools_missing}")
  set(XTTS_BUILD_TOOLS OFF)
  return()
endif()
set(XTTS_BUILD_TOOLS ON)

add_library(lmdb_library INTERFACE)
target_include_directories(lmdb_library SYSTEM INTERFACE ${XTTS_LMDB_INCLUDE})
target_link_libraries(lmdb_library INTERFACE ${XTTS_LMDB_LIBRARY})

# libhdf5 is loaded at run time, on demand (src/store/hdf5_library.hpp). The build needs only its
# headers and its name.
add_library(hdf5_headers INTERFACE)
target_include_directories(hdf5_headers SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
list(FILTER HDF5_LINK_LIBRARIES INCLUDE REGEX "libhdf5")
list(GET HDF5_LINK_LIBRARIES 0 xtts_hdf5_file)
get_filename_component(xtts_hdf5_file ${xtts_hdf5_file} REALPATH)  # its name says the version
execute_process(COMMAND ${CMAKE_READELF} --wide --dynamic ${xtts_hdf5_file}
  OUTPUT_VARIABLE hdf5_dynamic ERROR_QUIET)
if(NOT hdf5_dynamic MATCHES "SONAME[^\n]*\\[([^]]+)\\]")
  message(FATAL_ERROR "${xtts_hdf5_file} is not HDF5's shared library: apt-get install libhdf5-dev")
endif()
set(xtts_hdf5_name ${CMAKE_MATCH_1})

if(XTTS_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(XTTS_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
