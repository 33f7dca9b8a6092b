#include "formats/sound_columns.hpp"

#include <algorithm>
#include <iterator>

#include "base/formatted.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"

namespace xtts::formats {
namespace {

DType as_stored(const FeatureConfig&, DType stored) {
  return stored;
}

DType float32(const FeatureConfig&, DType) {
  return DType::kFloat32;
}

DType dtype_of_wave(const FeatureConfig& config, DType) {
  return config.columns.wave == WaveColumn::kInt16 ? DType::kInt16 : DType::kFloat32;
}

std::string words_of_mel(const FeatureConfig& config) {
  return std::to_string(config.channel_count()) +
         (config.mel.scale == MelScale::kNone ? " bins" : " mels");
}

using Shape = std::vector<std::uint32_t>;

// The entries are in the order of the enumeration.
constexpr std::array<SoundColumnInfo, kSoundColumnCount> kColumns{{
    {.column = SoundColumn::kMel,
     .name = "mel",
     .wanted = &ColumnsConfig::mel,
     .is_feature = true,
     .counts_samples = false,
     .shape =
         [](const FeatureConfig& c) {
           return Shape{c.max_frames, c.channel_count()};
         },
     .dtype = as_stored,
     .words = words_of_mel},
    {.column = SoundColumn::kLinear,
     .name = "linear",
     .wanted = &ColumnsConfig::linear,
     .is_feature = false,
     .counts_samples = false,
     .shape =
         [](const FeatureConfig& c) {
           return Shape{c.max_frames, c.bin_count()};
         },
     .dtype = as_stored,
     .words = [](const FeatureConfig& c) { return formatted("{} linear bins", c.bin_count()); }},
    {.column = SoundColumn::kWave,
     .name = "wave",
     .wanted = nullptr,
     .is_feature = false,
     .counts_samples = true,
     .shape =
         [](const FeatureConfig& c) {
           return Shape{static_cast<std::uint32_t>(c.padded_samples())};
         },
     .dtype = dtype_of_wave,
     .words =
         [](const FeatureConfig& c) { return "wave " + std::string(name_of(c.columns.wave)); }},
    {.column = SoundColumn::kEnergy,
     .name = "energy",
     .wanted = &ColumnsConfig::energy,
     .is_feature = false,
     .counts_samples = false,
     .shape = [](const FeatureConfig& c) { return Shape{c.max_frames}; },
     .dtype = float32,
     .words = [](const FeatureConfig&) { return std::string("energy"); }},
}};
static_assert(std::ranges::all_of(kColumns, [](const SoundColumnInfo& info) {
  return &info == &kColumns[static_cast<std::size_t>(info.column)];
}));

}  // namespace

std::span<const SoundColumnInfo> all_sound_columns() noexcept {
  return kColumns;
}

const SoundColumnInfo& info_of(SoundColumn column) noexcept {
  return kColumns[static_cast<std::size_t>(column)];
}

const SoundColumnInfo* find_sound_column(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kColumns, name, &SoundColumnInfo::name);
  return found == kColumns.end() ? nullptr : found;
}

std::vector<SoundColumn> sound_columns_of(const FeatureConfig& config) {
  std::vector<SoundColumn> asked;
  for (const SoundColumnInfo& info : kColumns) {
    const bool is_asked_for = info.wanted != nullptr ? config.columns.*info.wanted
                                                     : config.columns.wave != WaveColumn::kNone;
    if (is_asked_for) asked.push_back(info.column);
  }
  return asked;
}

std::uint64_t wave_samples(const FeatureConfig& config, std::uint64_t sample_count,
                           std::uint64_t frame_count) noexcept {
  const ZerosConfig& zeros = config.zeros;
  std::uint64_t framed = sample_count + zeros.front_samples + zeros.back_samples;
  framed = (framed + zeros.multiple_samples - 1) / zeros.multiple_samples * zeros.multiple_samples;
  return std::min(framed, frame_count * config.stft.hop_samples);
}

}  // namespace xtts::formats
