#include "formats/sound_columns.hpp"

#include <algorithm>
#include <iterator>

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

// In the order of the enumeration.
constexpr std::array<SoundColumnInfo, kSoundColumnCount> kColumns{{
    {.column = SoundColumn::kMel,
     .name = "mel",
     .help = "the mel spectrogram",
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
     .help = "the bins of the spectrum, as they go into the mel filters",
     .wanted = &ColumnsConfig::linear,
     .is_feature = false,
     .counts_samples = false,
     .shape =
         [](const FeatureConfig& c) {
           return Shape{c.max_frames, c.bin_count()};
         },
     .dtype = as_stored,
     .words =
         [](const FeatureConfig& c) { return std::to_string(c.bin_count()) + " linear bins"; }},
    {.column = SoundColumn::kWave,
     .name = "wave",
     .help = "none | int16 | float32: the conditioned samples, hop_samples a frame",
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
     .help = "each frame's L2 norm over the magnitudes of its bins",
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

bool is_asked_for(SoundColumn column, const FeatureConfig& config) noexcept {
  const auto wanted = info_of(column).wanted;
  return wanted != nullptr ? config.columns.*wanted : config.columns.wave != WaveColumn::kNone;
}

}  // namespace xtts::formats
