#include "doctor/gpu_check.hpp"

#include <string>
#include <utility>

#include "base/try.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using report::format_size;

constexpr const char* kSource = "NVIDIA's management library (NVML)";
constexpr int kOldestCuda = 11'020;  // CUDA 11.2: the users' own limit

std::string cuda_in_words(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string link_in_words(std::uint32_t generation, std::uint32_t width) {
  return "PCIe " + std::to_string(generation) + ".0 x" + std::to_string(width);
}

void add_evidence(const GpuState& gpu, const std::string& name, Check& check) {
  const auto add = [&](const std::string& what, std::string value,
                       std::optional<double> number = {}, const std::string& unit = {}) {
    check.evidence.push_back({.what = name + ", " + what,
                              .value = std::move(value),
                              .source = kSource,
                              .number = number,
                              .unit = unit});
  };
  const device::GpuFacts& facts = gpu.facts;
  const device::GpuReading& now = gpu.reading;
  if (!facts.driver_version.empty()) add("driver", facts.driver_version);
  if (facts.cuda_version) add("newest CUDA of the driver", cuda_in_words(*facts.cuda_version));
  if (facts.memory_total_bytes)
    add("memory", format_size(*facts.memory_total_bytes),
        static_cast<double>(*facts.memory_total_bytes), "bytes");
  if (now.memory_free_bytes)
    add("free memory", format_size(*now.memory_free_bytes),
        static_cast<double>(*now.memory_free_bytes), "bytes");
  if (now.utilization)
    add("utilization now", std::to_string(*now.utilization) + " %", *now.utilization, "percent");
  if (facts.pcie_generation_max && facts.pcie_width_max)
    add("link, at best", link_in_words(*facts.pcie_generation_max, *facts.pcie_width_max));
  if (facts.pcie_generation && facts.pcie_width)
    add("link now", link_in_words(*facts.pcie_generation, *facts.pcie_width));
}

void judge_peers(const GpuState& gpu, std::size_t number, Check& check) {
  for (const GpuPeer& peer : gpu.peers) {
    const std::string pair =
        "GPU " + std::to_string(number) + " and GPU " + std::to_string(peer.number);
    const device::GpuLink& link = peer.link;
    std::string value(link.way);
    const auto add = [&](const std::string& words) {
      value += (value.empty() ? "" : ", ") + words;
    };
    if (link.has_nvlink == true) add("NVLink");
    if (link.reads_peer) add(*link.reads_peer ? "direct copies" : "no direct copies");
    if (!value.empty())
      check.evidence.push_back(
          {.what = pair + " are connected", .value = value, .source = kSource});
    if (link.reads_peer == false)
      check.findings.push_back(
          {.status = CheckStatus::kWarn,
           .text = pair + " cannot copy directly, so each batch between them goes through the " +
                   "host's memory (" + value + ").",
           .remedy = "Put batches straight onto the GPU that trains, or use two GPUs that can."});
  }
}

void judge(const GpuState& gpu, const std::string& name, Check& check) {
  const device::GpuFacts& facts = gpu.facts;
  const auto warn = [&](std::string text, std::string remedy) {
    check.findings.push_back({.status = CheckStatus::kWarn,
                              .text = std::move(text),
                              .remedy = std::move(remedy),
                              .place = name});
  };
  if (facts.cuda_version && *facts.cuda_version < kOldestCuda)
    warn("The driver of " + name + " knows CUDA " + cuda_in_words(*facts.cuda_version) +
             " at most. Current frameworks need 11.2 or later.",
         "Install a newer NVIDIA driver.");
  // A card in a slot with fewer lanes. An idle link lowers its generation, not its width.
  if (facts.pcie_width && facts.pcie_width_max && *facts.pcie_width * 2 <= *facts.pcie_width_max)
    warn(name + " is connected with " + std::to_string(*facts.pcie_width) + " of " +
             std::to_string(*facts.pcie_width_max) + " PCIe lanes, so copies take longer.",
         "Put the card into a slot with all lanes, or take out what shares them.");
  if (gpu.reading.throttle_reasons && !gpu.reading.throttle_reasons->empty()) {
    std::vector<std::string> reasons(gpu.reading.throttle_reasons->begin(),
                                     gpu.reading.throttle_reasons->end());
    warn("The clocks of " + name + " are slowed now: " + report::format_list(reasons) + ".",
         "Look after the card's cooling and power limit.");
  }
}

}  // namespace

Result<std::vector<GpuState>> read_gpus() {
  XTTS_ASSIGN(const auto monitor, device::GpuMonitor::open());
  XTTS_ASSIGN(auto facts, monitor->gpus());
  std::vector<GpuState> gpus;
  for (device::GpuFacts& one : facts) {
    GpuState state;
    if (one.gpu != nullptr) state.reading = monitor->read(one.gpu, device::PcieReading::kNone);
    state.facts = std::move(one);
    gpus.push_back(std::move(state));
  }
  for (std::size_t one = 0; one < gpus.size(); ++one) {
    for (std::size_t other = one + 1; other < gpus.size(); ++other) {
      if (gpus[one].facts.gpu == nullptr || gpus[other].facts.gpu == nullptr) continue;
      gpus[one].peers.push_back({other, monitor->link(gpus[one].facts.gpu, gpus[other].facts.gpu)});
    }
  }
  return gpus;
}

Check check_gpus(const Result<std::vector<GpuState>>& gpus) {
  Check check{.name = "gpu", .title = "GPU and driver"};
  if (!gpus.ok() || gpus->empty()) {
    check.summary = "No NVIDIA GPU can be asked here: " +
                    (gpus.ok() ? "the driver lists none" : gpus.status().message()) + ".";
    return check;
  }
  for (std::size_t i = 0; i < gpus->size(); ++i) {
    const GpuState& gpu = (*gpus)[i];
    const std::string name = "GPU " + std::to_string(i) + " (" +
                             (gpu.facts.name.empty() ? "unknown" : gpu.facts.name) + ")";
    if (gpu.facts.gpu == nullptr) {
      check.findings.push_back(
          {.status = CheckStatus::kFail,
           .text = name + " is there, but the driver cannot open it: " +
                   device::in_words(gpu.facts.missing) + ".",
           .remedy = "Restart the machine, and look into dmesg for Xid errors.",
           .place = name});
      continue;
    }
    add_evidence(gpu, name, check);
    judge(gpu, name, check);
    judge_peers(gpu, i, check);
  }
  check.status = worst_of(check.findings);
  check.summary = check.findings.empty()
                      ? report::format_counted(gpus->size(), "GPU", "GPUs") +
                            " with a working driver: " + gpus->front().facts.name + "."
                      : check.findings.front().text;
  return check;
}

}  // namespace xtts::doctor
