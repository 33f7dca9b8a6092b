#include "probe/gpus.hpp"

#include <cstddef>
#include <vector>

#include "base/try.hpp"
#include "device/gpu_monitor.hpp"
#include "probe/or_null.hpp"

namespace xtts::probe {
namespace {

using device::GpuFacts;
using device::GpuMonitor;
using nlohmann::json;

json peers_of(const GpuMonitor& monitor, const std::vector<GpuFacts>& gpus, std::size_t number) {
  json peers = json::array();
  for (std::size_t other = number + 1; other < gpus.size(); ++other) {
    if (gpus[other].gpu == nullptr) continue;
    const device::GpuLink link = monitor.link(gpus[number].gpu, gpus[other].gpu);
    peers.push_back({{"number", other},
                     {"way", link.way},
                     {"has_nvlink", or_null(link.has_nvlink)},
                     {"reads_peer", or_null(link.reads_peer)}});
  }
  return peers;
}

json numbers_of(const GpuMonitor& monitor, const std::vector<GpuFacts>& gpus, std::size_t number) {
  const GpuFacts& facts = gpus[number];
  json gpu = {{"name", facts.name},
              {"missing", nullptr},
              {"driver_version", facts.driver_version},
              {"cuda_version", or_null(facts.cuda_version)},
              {"memory_bytes", or_null(facts.memory_total_bytes)},
              {"pcie_generation", or_null(facts.pcie_generation)},
              {"pcie_width", or_null(facts.pcie_width)},
              {"pcie_generation_max", or_null(facts.pcie_generation_max)},
              {"pcie_width_max", or_null(facts.pcie_width_max)},
              {"memory_free_bytes", nullptr},
              {"utilization", nullptr},
              {"throttle_reasons", nullptr},
              {"peers", json::array()}};
  if (facts.gpu == nullptr) {
    gpu["missing"] = device::in_words(facts.missing);
    return gpu;
  }
  const device::GpuReading now = monitor.read(facts.gpu, device::PcieReading::kNone);
  gpu["memory_free_bytes"] = or_null(now.memory_free_bytes);
  gpu["utilization"] = or_null(now.utilization);
  gpu["throttle_reasons"] = or_null(now.throttle_reasons);
  gpu["peers"] = peers_of(monitor, gpus, number);
  return gpu;
}

}  // namespace

Result<json> gpu_numbers() {
  XTTS_ASSIGN(const auto monitor, GpuMonitor::open());
  XTTS_ASSIGN(const auto facts, monitor->gpus());
  json gpus = json::array();
  for (std::size_t i = 0; i < facts.size(); ++i) gpus.push_back(numbers_of(*monitor, facts, i));
  return gpus;
}

}  // namespace xtts::probe
