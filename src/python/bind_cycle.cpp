// Binds find_cycle() of include/xtts/cycle.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/gil.hpp"
#include "xtts/cycle.hpp"

namespace xtts::python {

namespace nb = nanobind;

void bind_cycle(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "find_cycle",
      [](const std::vector<double>& times) -> std::optional<std::pair<double, double>> {
        const auto cycle = must(without_gil([&] { return find_cycle(times); }));
        if (!cycle) return std::nullopt;
        return std::pair(cycle->period, cycle->strength);
      },
      "times"_a,
      "The period with which times repeat themselves, and how much of them does; or None.");
}

}  // namespace xtts::python
