#include "report/gpu_words.hpp"

#include <optional>

#include "base/formatted.hpp"
#include "report/human.hpp"

namespace xtts::report {
namespace {

constexpr double kPeriodS = 1.0;  // the longest over which NVML takes a mean

std::string whole(double value) {
  return format_fixed(value, 0);
}

std::string size(double size_bytes) {
  return format_size(static_cast<std::uint64_t>(size_bytes));
}

// Puts what is there between commas.
std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

std::string busy(const GpuUse& use) {
  if (!use.utilization) return {};
  const GpuSpread& percent = *use.utilization;
  return formatted("busy {} ± {} % of the time ({} to {} %)", whole(percent.mean),
                   whole(percent.std), whole(percent.min), whole(percent.max));
}

std::string memory(const GpuUse& use) {
  if (!use.memory_used_bytes) return {};
  std::string text = size(use.memory_used_bytes->max);
  if (use.memory_total_bytes) text += " of " + format_size(*use.memory_total_bytes);
  return text + " of memory in use";
}

std::string now_of_most(const std::optional<std::uint32_t>& now,
                        const std::optional<std::uint32_t>& most) {
  std::string text = std::to_string(*now);
  if (most && *most != *now) text += formatted(" of {}", *most);
  return text;
}

std::string pcie(const GpuUse& use) {
  std::vector<std::string> parts;
  if (use.pcie_received_bytes_per_s)
    parts.push_back(size(use.pcie_received_bytes_per_s->mean) + "/s to the GPU");
  if (use.pcie_sent_bytes_per_s)
    parts.push_back(size(use.pcie_sent_bytes_per_s->mean) + "/s from it");
  if (use.pcie_generation)
    parts.push_back("generation " + now_of_most(use.pcie_generation, use.pcie_generation_max));
  if (use.pcie_width) parts.push_back("lanes " + now_of_most(use.pcie_width, use.pcie_width_max));
  return parts.empty() ? "" : "PCIe: " + joined(parts);
}

std::string clocks_and_power(const GpuUse& use) {
  std::vector<std::string> parts;
  if (use.sm_clock_mhz) parts.push_back(formatted("clock {} MHz", whole(use.sm_clock_mhz->mean)));
  if (use.memory_clock_mhz)
    parts.push_back(formatted("memory clock {} MHz", whole(use.memory_clock_mhz->mean)));
  if (use.power_w) {
    const std::string limit = use.power_limit_w ? " of " + whole(*use.power_limit_w) : "";
    parts.push_back(formatted("{}{} W", whole(use.power_w->mean), limit));
  }
  if (use.temperature_c) parts.push_back(whole(use.temperature_c->max) + " °C");
  if (!use.throttle_reasons.empty())
    parts.push_back("slowed down by " + format_list(use.throttle_reasons));
  return joined(parts);
}

}  // namespace

std::vector<std::string> gpu_lines(const GpuUse& use) {
  if (use.sample_count == 0) return {"the GPU was not watched: " + use.missing};
  std::vector<std::string> lines;
  const std::string name = use.name.empty() ? "GPU" : "GPU " + escape_controls(use.name);
  const std::string samples = format_counted(use.sample_count, "sample", "samples");
  lines.push_back(formatted("{}: {}", name, joined({busy(use), memory(use), samples})));
  if (const std::string text = pcie(use); !text.empty()) lines.push_back(text);
  if (const std::string text = clocks_and_power(use); !text.empty()) lines.push_back(text);
  if (use.utilization && use.seconds < kPeriodS) {
    lines.push_back("the GPU was watched for " + format_short(use.seconds) +
                    " s, and its utilization is a mean over up to 1 s: measure more batches");
  }
  if (!use.missing.empty()) lines.push_back("not read: " + use.missing);
  return lines;
}

}  // namespace xtts::report
