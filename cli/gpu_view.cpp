#include "cli/gpu_view.hpp"

#include <optional>

namespace xtts::cli {
namespace {

using nlohmann::json;

template <typename Number>
json or_null(const std::optional<Number>& value) {
  return value ? json(*value) : json(nullptr);
}

json spread_to_json(const std::optional<GpuSpread>& spread) {
  if (!spread) return nullptr;
  return {{"mean", spread->mean}, {"std", spread->std}, {"min", spread->min}, {"max", spread->max}};
}

}  // namespace

json gpu_to_json(const GpuUse& use) {
  if (use.sample_count == 0) return nullptr;
  json utilization = spread_to_json(use.utilization);
  if (use.utilization) {
    utilization["p5"] = or_null(use.utilization_p5);
    utilization["p50"] = or_null(use.utilization_p50);
    utilization["p95"] = or_null(use.utilization_p95);
  }
  return {{"name", use.name},
          {"pci_bus_id", use.pci_bus_id},
          {"driver_version", use.driver_version},
          {"samples", use.sample_count},
          {"seconds", use.seconds},
          {"utilization", utilization},
          {"memory_utilization", spread_to_json(use.memory_utilization)},
          {"memory_used_bytes", spread_to_json(use.memory_used_bytes)},
          {"memory_total_bytes", or_null(use.memory_total_bytes)},
          {"pcie_received_bytes_per_s", spread_to_json(use.pcie_received_bytes_per_s)},
          {"pcie_sent_bytes_per_s", spread_to_json(use.pcie_sent_bytes_per_s)},
          {"pcie_generation", or_null(use.pcie_generation)},
          {"pcie_width", or_null(use.pcie_width)},
          {"pcie_generation_max", or_null(use.pcie_generation_max)},
          {"pcie_width_max", or_null(use.pcie_width_max)},
          {"sm_clock_mhz", spread_to_json(use.sm_clock_mhz)},
          {"memory_clock_mhz", spread_to_json(use.memory_clock_mhz)},
          {"power_w", spread_to_json(use.power_w)},
          {"power_limit_w", or_null(use.power_limit_w)},
          {"temperature_c", spread_to_json(use.temperature_c)},
          {"throttle_reasons", use.throttle_reasons}};
}

}  // namespace xtts::cli
