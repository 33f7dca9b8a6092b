#include "dsp/channel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/half.hpp"

namespace xtts::dsp {
namespace {

// Turns one frame of stored values into float32.
void widen(std::span<const std::byte> stored, DType dtype, std::span<float> values) {
  if (dtype == DType::kFloat32) {
    std::memcpy(values.data(), stored.data(), stored.size());
    return;
  }
  const std::span halves(reinterpret_cast<const std::uint16_t*>(stored.data()), values.size());
  if (dtype == DType::kFloat16) {
    from_float16(halves, values);
  } else {
    from_bfloat16(halves, values);
  }
}

}  // namespace

void sum_channels(std::span<const std::byte> rows, DType dtype, std::size_t channel_count,
                  std::vector<double>& sums) {
  sums.assign(2 * channel_count, 0.0);
  double* const sum = sums.data();
  double* const squares = sums.data() + channel_count;
  std::vector<float> frame(channel_count);
  const std::size_t frame_bytes = channel_count * size_bytes(dtype);
  for (std::size_t at = 0; at < rows.size(); at += frame_bytes) {
    widen(rows.subspan(at, frame_bytes), dtype, frame);
    for (std::size_t channel = 0; channel < channel_count; ++channel) {
      const double value = static_cast<double>(frame[channel]);
      sum[channel] += value;
      squares[channel] += value * value;
    }
  }
}

void add_sums(const std::vector<double>& sums, std::uint32_t frame_count,
              formats::BlockFacts& block) {
  if (sums.empty()) return;
  block.summed_frame_count += frame_count;
  block.sums.resize(sums.size(), 0.0);
  for (std::size_t i = 0; i < sums.size(); ++i) block.sums[i] += sums[i];
}

void TotalSums::add(const formats::BlockFacts& block) {
  if (sums.size() < block.sums.size()) sums.resize(block.sums.size());
  for (std::size_t i = 0; i < block.sums.size(); ++i) sums[i].add(block.sums[i]);
  frame_count += block.summed_frame_count;
}

bool TotalSums::add(const formats::Statistics& statistics) {
  if (sums.empty()) sums.resize(statistics.sums.size());
  if (statistics.sums.empty() || sums.size() != statistics.sums.size()) return false;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto sum = ExactSum::parse(statistics.sums[i]);
    if (!sum) return false;
    sums[i].add(*sum);
  }
  frame_count += statistics.frame_count;
  return true;
}

std::optional<formats::Statistics> statistics_of(const TotalSums& totals) {
  if (totals.frame_count == 0 || totals.sums.empty()) return std::nullopt;
  formats::Statistics statistics;
  statistics.frame_count = totals.frame_count;
  const auto frames = static_cast<double>(totals.frame_count);
  const std::size_t channels = totals.sums.size() / 2;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double mean = totals.sums[channel].rounded() / frames;
    const double variance = totals.sums[channels + channel].rounded() / frames - mean * mean;
    // Sums of finite values are finite, but another program may have stored other values. A cache
    // without statistics is better than no cache.
    if (!std::isfinite(mean) || !std::isfinite(variance)) return std::nullopt;
    statistics.mean.push_back(mean);
    statistics.std_deviation.push_back(std::sqrt(std::max(variance, 0.0)));
  }
  for (const ExactSum& sum : totals.sums) statistics.sums.push_back(sum.to_text());
  return statistics;
}

}  // namespace xtts::dsp
