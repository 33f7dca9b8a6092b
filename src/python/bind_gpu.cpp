// Binds GpuSampler of include/xtts/gpu.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <optional>

#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/gil.hpp"
#include "xtts/gpu.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

template <typename Number>
nb::object or_none(const std::optional<Number>& value) {
  return value ? nb::cast(*value) : nb::none();
}

nb::object spread(const std::optional<GpuSpread>& found) {
  if (!found) return nb::none();
  nb::dict values;
  values["mean"] = found->mean;
  values["std"] = found->std;
  values["min"] = found->min;
  values["max"] = found->max;
  return values;
}

// The keys of tests/cli/schemas/gpu.json, and why values are missing.
nb::tuple use_of(const GpuSampler& self) {
  const GpuUse use = must(without_gil([&] { return self.use(); }));
  const nb::object missing = to_text(use.missing);
  if (use.sample_count == 0) return nb::make_tuple(nb::none(), missing);
  nb::object utilization = spread(use.utilization);
  if (use.utilization) {
    utilization["p5"] = or_none(use.utilization_p5);
    utilization["p50"] = or_none(use.utilization_p50);
    utilization["p95"] = or_none(use.utilization_p95);
  }
  nb::list reasons;
  for (const std::string& reason : use.throttle_reasons) reasons.append(to_text(reason));
  nb::dict values;
  values["name"] = to_text(use.name);
  values["pci_bus_id"] = to_text(use.pci_bus_id);
  values["driver_version"] = to_text(use.driver_version);
  values["samples"] = use.sample_count;
  values["seconds"] = use.seconds;
  values["utilization"] = utilization;
  values["memory_utilization"] = spread(use.memory_utilization);
  values["memory_used_bytes"] = spread(use.memory_used_bytes);
  values["memory_total_bytes"] = or_none(use.memory_total_bytes);
  values["pcie_received_bytes_per_s"] = spread(use.pcie_received_bytes_per_s);
  values["pcie_sent_bytes_per_s"] = spread(use.pcie_sent_bytes_per_s);
  values["pcie_generation"] = or_none(use.pcie_generation);
  values["pcie_width"] = or_none(use.pcie_width);
  values["pcie_generation_max"] = or_none(use.pcie_generation_max);
  values["pcie_width_max"] = or_none(use.pcie_width_max);
  values["sm_clock_mhz"] = spread(use.sm_clock_mhz);
  values["memory_clock_mhz"] = spread(use.memory_clock_mhz);
  values["power_w"] = spread(use.power_w);
  values["power_limit_w"] = or_none(use.power_limit_w);
  values["temperature_c"] = spread(use.temperature_c);
  values["throttle_reasons"] = reasons;
  return nb::make_tuple(values, missing);
}

}  // namespace

void bind_gpu(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "cuda_pci_bus_id",
      [](int number) {
        return to_text(must(without_gil([&] { return cuda_pci_bus_id(number); })));
      },
      "number"_a, nb::sig("def cuda_pci_bus_id(number: int) -> str"),
      "The place of the GPU that CUDA calls cuda:N in this process.");
  nb::class_<GpuSampler>(module, "GpuSampler", "Samples what a GPU does between start and stop.")
      .def(
          "__init__",
          [](GpuSampler* self, const std::string& pci_bus_id, std::uint32_t interval_ms) {
            new (self) GpuSampler(must(without_gil([&] {
              return GpuSampler::open(pci_bus_id,
                                      {.interval = std::chrono::milliseconds(interval_ms)});
            })));
          },
          "pci_bus_id"_a, "interval_ms"_a = 100)
      .def("start", [](GpuSampler& self) { must(without_gil([&] { return self.start(); })); })
      .def(
          "stop", [](GpuSampler& self) { must(without_gil([&] { return self.stop(); })); },
          "Takes a last sample.")
      .def("use", use_of, nb::sig("def use(self) -> tuple[dict[str, typing.Any] | None, str]"),
           "The values, as tests/cli/schemas/gpu.json has them, and why others are missing.");
}

}  // namespace xtts::python
