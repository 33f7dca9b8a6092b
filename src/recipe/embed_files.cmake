# cmake -D OUTPUT=file.cpp -D TYPE=ShippedRecipe -D FUNCTION=shipped_recipes -P embed_files.cmake --
#   a.yaml b.yaml ...
# Writes the text of each file into a C++ source. It runs at build time, so that an edited file is
# compiled in again.
set(index 0)
set(files)
math(EXPR last "${CMAKE_ARGC} - 1")
set(after_dashes FALSE)
foreach(index RANGE ${last})
  if(after_dashes)
    list(APPEND files "${CMAKE_ARGV${index}}")
  elseif("${CMAKE_ARGV${index}}" STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()
list(SORT files)
list(LENGTH files count)

set(rows "")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME_WLE)
  if(name STREQUAL "keys")  # of a trainer, whose folder has its name
    get_filename_component(name "${file}" DIRECTORY)
    get_filename_component(name "${name}" NAME)
  endif()
  string(APPEND rows "    {\"${name}\", R\"xtts_file(${text})xtts_file\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed_files.cmake from files of data: edit those.
#include \"recipe/shipped.hpp\"

#include <array>

namespace xtts::recipe {

std::span<const ${TYPE}> ${FUNCTION}() {
  static constexpr std::array<${TYPE}, ${count}> kFiles = {{
${rows}}};
  return kFiles;
}

}  // namespace xtts::recipe
")
