#include "device/gpu_tally.hpp"

#include <algorithm>
#include <cmath>

namespace xtts::device {

void GpuTally::Spread::add(double value) noexcept {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  const double from_old_mean = value - mean_;
  mean_ += from_old_mean / static_cast<double>(count_);
  squares_ += from_old_mean * (value - mean_);
}

std::optional<GpuSpread> GpuTally::Spread::spread() const noexcept {
  if (count_ == 0) return {};
  return GpuSpread{.mean = mean_,
                   .std = std::sqrt(squares_ / static_cast<double>(count_)),
                   .min = min_,
                   .max = max_};
}

void GpuTally::add(const GpuReading& reading) {
  ++reading_count_;
  const auto count = [](Spread& spread, const auto& value) {
    if (value) spread.add(static_cast<double>(*value));
  };
  if (reading.utilization) {
    const std::size_t percent = std::min<std::size_t>(*reading.utilization, 100);
    ++readings_at_percent_[percent];
    utilization_.add(static_cast<double>(percent));
  }
  count(memory_utilization_, reading.memory_utilization);
  count(memory_used_, reading.memory_used_bytes);
  count(pcie_received_, reading.pcie_received_bytes_per_s);
  count(pcie_sent_, reading.pcie_sent_bytes_per_s);
  count(sm_clock_, reading.sm_clock_mhz);
  count(memory_clock_, reading.memory_clock_mhz);
  count(power_, reading.power_w);
  count(temperature_, reading.temperature_c);
  if (reading.throttle_reasons) {
    for (const std::string_view reason : *reading.throttle_reasons) {
      if (std::ranges::find(throttle_reasons_, reason) == throttle_reasons_.end())
        throttle_reasons_.push_back(reason);
    }
  }
  note_missing(reading.missing);
}

void GpuTally::add(const GpuFacts& facts) {
  const auto generation = std::max(facts_.pcie_generation, facts.pcie_generation);
  const auto width = std::max(facts_.pcie_width, facts.pcie_width);
  facts_ = facts;
  facts_.pcie_generation = generation;
  facts_.pcie_width = width;
  note_missing(facts.missing);
}

void GpuTally::note_missing(const std::vector<Missing>& missing) {
  for (const Missing& one : missing) {
    if (std::ranges::find(missing_, one.value, &Missing::value) == missing_.end())
      missing_.push_back(one);
  }
}

// The smallest percent that so many readings do not exceed, as `bench` has it for times.
std::optional<double> GpuTally::utilization_quantile(double share) const noexcept {
  std::uint64_t count = 0;
  for (const std::uint64_t readings : readings_at_percent_) count += readings;
  if (count == 0) return {};
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count)));
  std::uint64_t below = 0;
  std::size_t percent = 0;
  for (; percent < readings_at_percent_.size(); ++percent) {
    below += readings_at_percent_[percent];
    if (below >= std::max<std::uint64_t>(wanted, 1)) break;
  }
  return static_cast<double>(percent);
}

GpuUse GpuTally::use() const {
  return {.sample_count = reading_count_,
          .seconds = seconds_,
          .name = facts_.name,
          .pci_bus_id = facts_.pci_bus_id,
          .driver_version = facts_.driver_version,
          .utilization = utilization_.spread(),
          .utilization_p5 = utilization_quantile(0.05),
          .utilization_p50 = utilization_quantile(0.5),
          .utilization_p95 = utilization_quantile(0.95),
          .memory_utilization = memory_utilization_.spread(),
          .memory_used_bytes = memory_used_.spread(),
          .memory_total_bytes = facts_.memory_total_bytes,
          .pcie_received_bytes_per_s = pcie_received_.spread(),
          .pcie_sent_bytes_per_s = pcie_sent_.spread(),
          .pcie_generation = facts_.pcie_generation,
          .pcie_width = facts_.pcie_width,
          .pcie_generation_max = facts_.pcie_generation_max,
          .pcie_width_max = facts_.pcie_width_max,
          .sm_clock_mhz = sm_clock_.spread(),
          .memory_clock_mhz = memory_clock_.spread(),
          .power_w = power_.spread(),
          .power_limit_w = facts_.power_limit_w,
          .temperature_c = temperature_.spread(),
          .throttle_reasons = {throttle_reasons_.begin(), throttle_reasons_.end()},
          .missing = in_words(missing_)};
}

}  // namespace xtts::device
