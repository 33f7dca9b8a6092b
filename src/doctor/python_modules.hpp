// The files of src/python/xtts_precompute/doctor, as embed_modules.cmake compiles them in.
// Constants.
#pragma once

#include <span>
#include <string_view>

namespace xtts::doctor {

struct PythonModule {
  std::string_view path;  // "code_scan/__init__.py"
  std::string_view text;
};

[[nodiscard]] std::span<const PythonModule> python_modules();  // sorted by path

}  // namespace xtts::doctor
