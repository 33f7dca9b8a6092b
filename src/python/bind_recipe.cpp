// Binds describe_recipe() of include/xtts/recipe_info.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "python/builder_bindings.hpp"
#include "python/errors.hpp"
#include "xtts/recipe_info.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

// Keeps the GIL, because it reads small files only.
nb::object recipe(const nb::bytes& name, const std::vector<std::string>& settings,
                  const nb::bytes& config) {
  auto report = describe_recipe({.recipe = {name.c_str(), name.size()},
                                 .settings = settings,
                                 .config = {config.c_str(), config.size()}});
  return to_text(must(std::move(report)).json);
}

}  // namespace

void bind_recipe(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("recipe", recipe, nb::kw_only(), "recipe"_a, "settings"_a, "config"_a,
             nb::sig("def recipe(*, recipe: bytes, settings: collections.abc.Sequence[str], "
                     "config: bytes) -> str"),
             "What a build would make: RecipeReport's JSON document. Empty: not given.");
}

}  // namespace xtts::python
