#include "formats/feature_config.hpp"

#include <algorithm>

namespace xtts::formats {

std::vector<SoundColumn> FeatureConfig::sound_columns() const {
  std::vector<SoundColumn> all;
  if (columns.mel) all.push_back(SoundColumn::kMel);
  if (columns.linear) all.push_back(SoundColumn::kLinear);
  if (columns.wave != WaveColumn::kNone) all.push_back(SoundColumn::kWave);
  if (columns.energy) all.push_back(SoundColumn::kEnergy);
  return all;
}

std::vector<std::uint32_t> FeatureConfig::shape_of(SoundColumn column) const {
  switch (column) {
    case SoundColumn::kMel:
      return {max_frames, channel_count()};
    case SoundColumn::kLinear:
      return {max_frames, bin_count()};
    case SoundColumn::kWave:
      return {static_cast<std::uint32_t>(padded_samples())};
    case SoundColumn::kEnergy:
      break;
  }
  return {max_frames};
}

std::uint64_t FeatureConfig::wave_samples(std::uint64_t sample_count,
                                          std::uint64_t frame_count) const noexcept {
  std::uint64_t framed = sample_count + zeros.front_samples + zeros.back_samples;
  framed = (framed + zeros.multiple_samples - 1) / zeros.multiple_samples * zeros.multiple_samples;
  return std::min(framed, frame_count * stft.hop_samples);
}

}  // namespace xtts::formats
