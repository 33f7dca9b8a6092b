#include "formats/feature_config.hpp"

#include <algorithm>

#include "formats/sound_columns.hpp"

namespace xtts::formats {

std::vector<SoundColumn> FeatureConfig::sound_columns() const {
  std::vector<SoundColumn> asked;
  for (const SoundColumnInfo& info : all_sound_columns())
    if (is_asked_for(info.column, *this)) asked.push_back(info.column);
  return asked;
}

std::uint64_t FeatureConfig::wave_samples(std::uint64_t sample_count,
                                          std::uint64_t frame_count) const noexcept {
  std::uint64_t framed = sample_count + zeros.front_samples + zeros.back_samples;
  framed = (framed + zeros.multiple_samples - 1) / zeros.multiple_samples * zeros.multiple_samples;
  return std::min(framed, frame_count * stft.hop_samples);
}

}  // namespace xtts::formats
