# cmake -D OUTPUT=file.cpp -D FOLDER=xtts_precompute/doctor -P embed_modules.cmake
# Writes the text of each Python file of a folder into a C++ source. It runs at build time, so that
# an edited module is compiled in again.
file(GLOB_RECURSE files RELATIVE "${FOLDER}" "${FOLDER}/*.py")
list(SORT files)
list(LENGTH files count)

set(rows "")
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" text)
  string(APPEND rows "    {\"${file}\", R\"xtts_module(${text})xtts_module\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed_modules.cmake from src/python/xtts_precompute/doctor: edit those.
#include \"doctor/python_modules.hpp\"

#include <array>

namespace xtts::doctor {
namespace {
constexpr std::array<PythonModule, ${count}> kModules = {{
${rows}}};
}  // namespace

std::span<const PythonModule> python_modules() { return kModules; }

}  // namespace xtts::doctor
")
