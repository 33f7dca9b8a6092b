# Third-party libraries, each for its field. All are Debian packages (cli/run.sh installs them).
find_package(Threads REQUIRED)

# What the reader needs: headers alone, so that libxtts_reader.so links nothing.
find_path(XTTS_XXHASH_INCLUDE xxhash.h)
find_package(nlohmann_json 3.10 QUIET)
if(NOT XTTS_XXHASH_INCLUDE)
  message(FATAL_ERROR "xxhash.h was not found: apt-get install libxxhash-dev")
endif()
if(NOT nlohmann_json_FOUND)
  message(FATAL_ERROR "nlohmann/json.hpp, 3.10 or later, was not found: apt-get install nlohmann-json3-dev")
endif()
add_library(xxhash_header INTERFACE)  # XXH_INLINE_ALL
target_include_directories(xxhash_header SYSTEM INTERFACE ${XTTS_XXHASH_INCLUDE})

if(NOT XTTS_BUILD_TOOLS)
  return()
endif()

find_package(PkgConfig REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(TBB REQUIRED)
find_package(ZLIB REQUIRED)

pkg_check_modules(FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libavutil libswresample)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3 fftw3f)

find_path(XTTS_LMDB_INCLUDE lmdb.h REQUIRED)
find_library(XTTS_LMDB_LIBRARY lmdb REQUIRED)
add_library(lmdb_library INTERFACE)
target_include_directories(lmdb_library SYSTEM INTERFACE ${XTTS_LMDB_INCLUDE})
target_link_libraries(lmdb_library INTERFACE ${XTTS_LMDB_LIBRARY})

pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5 hdf5-serial)  # its C library

if(XTTS_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(XTTS_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
