# Apache Arrow's library, which reads Parquet and Arrow files, is optional. It is taken from a
# folder that holds its headers and libraries, as the Python package pyarrow does, or from the
# CMake packages that Apache's own packages install. This file makes the target arrow_library and
# the variable xtts_arrow_version; neither exists where Arrow is absent.
set(XTTS_WITH_ARROW AUTO CACHE STRING
  "Read Parquet and Arrow files (ON, OFF, AUTO: where Apache Arrow is found)")
set(XTTS_ARROW_ROOT "$ENV{XTTS_ARROW_ROOT}" CACHE PATH
  "A folder with Apache Arrow's include/ and libraries, such as that of pyarrow")
set(XTTS_ARROW_VERSION_MIN 26)  # older ones have other signatures

if(NOT XTTS_WITH_ARROW OR NOT XTTS_BUILD_TOOLS)
  return()
endif()

if(XTTS_ARROW_ROOT)
  set(arrow_version_header ${XTTS_ARROW_ROOT}/include/arrow/util/config.h)
  set(arrow_links "")
  foreach(name parquet arrow)
    file(GLOB found ${XTTS_ARROW_ROOT}/lib${name}.so* ${XTTS_ARROW_ROOT}/lib/lib${name}.so*)
    if(NOT found OR NOT EXISTS ${arrow_version_header})
      message(FATAL_ERROR
        "XTTS_ARROW_ROOT=${XTTS_ARROW_ROOT} lacks include/arrow or lib${name}.so: give the folder that "
        "python3 -c 'import pyarrow; print(pyarrow.__path__[0])' prints (pip install pyarrow)")
    endif()
    list(GET found 0 first)
    list(APPEND arrow_links ${first})
  endforeach()
  file(STRINGS ${arrow_version_header} arrow_version_line REGEX "define ARROW_VERSION_STRING")
  string(REGEX REPLACE "^.*\"(.*)\".*$" "\\1" xtts_arrow_version "${arrow_version_line}")
  if(xtts_arrow_version VERSION_LESS XTTS_ARROW_VERSION_MIN)
    message(FATAL_ERROR "Apache Arrow ${xtts_arrow_version} in ${XTTS_ARROW_ROOT} is too old: "
      "${XTTS_ARROW_VERSION_MIN} is needed")
  endif()
  add_library(arrow_library INTERFACE)
  target_include_directories(arrow_library SYSTEM INTERFACE ${XTTS_ARROW_ROOT}/include)
  target_link_libraries(arrow_library INTERFACE ${arrow_links})
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # no loader looks into such a folder by itself
else()
  find_package(Arrow QUIET)
  find_package(Parquet QUIET)
  if(Arrow_FOUND AND Parquet_FOUND AND NOT Arrow_VERSION VERSION_LESS XTTS_ARROW_VERSION_MIN)
    set(xtts_arrow_version ${Arrow_VERSION})
    add_library(arrow_library INTERFACE)
    target_link_libraries(arrow_library INTERFACE Parquet::parquet_shared Arrow::arrow_shared)
  elseif(NOT XTTS_WITH_ARROW STREQUAL "AUTO")
    message(FATAL_ERROR "Apache Arrow ${XTTS_ARROW_VERSION_MIN} or later was not found: pip install "
      "pyarrow and give its folder as XTTS_ARROW_ROOT, or install "
      "libarrow-dev and libparquet-dev of Apache's package archive")
  endif()
endif()
