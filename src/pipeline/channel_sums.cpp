#include "pipeline/channel_sums.hpp"

namespace xtts::pipeline {

void sum_channels(std::span<const float> frames, std::size_t channels, std::vector<double>& sums) {
  sums.assign(2 * channels, 0.0);
  double* const sum = sums.data();
  double* const squares = sums.data() + channels;
  for (std::size_t start = 0; start < frames.size(); start += channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      const double value = static_cast<double>(frames[start + c]);
      sum[c] += value;
      squares[c] += value * value;
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

}  // namespace xtts::pipeline
