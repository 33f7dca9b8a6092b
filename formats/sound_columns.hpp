// The columns that are computed from sound, a row each. A row has everything about a column but
// the computation of its values (dsp/extract.hpp). A new column needs a value of SoundColumn, a
// member of ColumnsConfig with its row (feature_members.hpp), a row here, and its arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/feature_enums.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/dtype.hpp"

namespace xtts::formats {

struct SoundColumnInfo {
  SoundColumn column;
  std::string_view name;
  bool ColumnsConfig::*wanted;  // null: the wave, whose key is a dtype
  // True if the whole chain makes the column: the logarithm, normalization, padding by pad_value,
  // and statistics.
  bool is_feature;
  bool counts_samples;  // its first axis has hop_samples a frame
  // Returns the shape of one record at full length.
  std::vector<std::uint32_t> (*shape)(const FeatureConfig& config);
  DType (*dtype)(const FeatureConfig& config, DType stored);
  std::string (*words)(const FeatureConfig& config);  // "80 mels"
};

// Returns the columns in the order of their numbers.
[[nodiscard]] std::span<const SoundColumnInfo> all_sound_columns() noexcept;
[[nodiscard]] const SoundColumnInfo& info_of(SoundColumn column) noexcept;
[[nodiscard]] const SoundColumnInfo* find_sound_column(std::string_view name) noexcept;
// Returns the columns that the recipe asks for. The first has the facts of the clip beside it.
[[nodiscard]] std::vector<SoundColumn> sound_columns_of(const FeatureConfig& config);
// Returns the samples that the wave column keeps of a clip of `sample_count`, which made
// `frame_count` frames.
[[nodiscard]] std::uint64_t wave_samples(const FeatureConfig& config, std::uint64_t sample_count,
                                         std::uint64_t frame_count) noexcept;

// One value for each column.
template <typename Value>
class BySoundColumn {
 public:
  Value& operator[](SoundColumn column) { return values_[static_cast<std::size_t>(column)]; }
  const Value& operator[](SoundColumn column) const {
    return values_[static_cast<std::size_t>(column)];
  }

 private:
  std::array<Value, kSoundColumnCount> values_{};
};

}  // namespace xtts::formats
