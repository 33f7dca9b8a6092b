// GpuTally sums up readings of a GPU. Its memory does not grow with them.
//
// One thread at a time. Never fails.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "device/gpu_monitor.hpp"
#include "xtts/gpu.hpp"

namespace xtts::device {

class GpuTally {
 public:
  // Welford's sums: they stay exact where the values are large and differ little, as bytes do.
  class Spread {
   public:
    void add(double value) noexcept;
    [[nodiscard]] std::optional<GpuSpread> spread() const noexcept;

   private:
    std::uint64_t count_ = 0;
    double mean_ = 0.0;
    double squares_ = 0.0;  // of the distances from the mean
    double min_ = 0.0;
    double max_ = 0.0;
  };

  void add(const GpuReading& reading);
  void add(const GpuFacts& facts);
  void add_seconds(double seconds) noexcept { seconds_ += seconds; }
  [[nodiscard]] GpuUse use() const;

 private:
  void note_missing(const std::vector<Missing>& missing);
  [[nodiscard]] std::optional<double> utilization_quantile(double share) const noexcept;

  std::uint64_t reading_count_ = 0;
  double seconds_ = 0.0;
  GpuFacts facts_;
  std::array<std::uint64_t, 101> readings_at_percent_{};  // of utilization
  Spread utilization_, memory_utilization_, memory_used_;
  Spread pcie_received_, pcie_sent_, sm_clock_, memory_clock_, power_, temperature_;
  std::vector<std::string_view> throttle_reasons_;
  std::vector<Missing> missing_;  // each value once, with its first reason
};

}  // namespace xtts::device
