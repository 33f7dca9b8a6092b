# cmake -D OUTPUT=file.cpp -P embed_recipes.cmake -- a.yaml b.yaml ...
# Writes the text of each file into a C++ source. It runs at build time, so that an edited recipe is
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
  string(APPEND rows "    {\"${name}\", R\"xtts_recipe(${text})xtts_recipe\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed_recipes.cmake from configs/recipes: edit those.
#include \"recipe/shipped.hpp\"

#include <array>

namespace xtts::recipe {
namespace {
constexpr std::array<ShippedRecipe, ${count}> kShipped = {{
${rows}}};
}  // namespace

std::span<const ShippedRecipe> shipped_recipes() { return kShipped; }

}  // namespace xtts::recipe
")
