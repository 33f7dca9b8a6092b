// FeatureConfig: everything that decides the numbers of the features, and nothing else. It is
// hashed into the fingerprint (canonical_json.hpp). A member that is added here needs its row in
// feature_members.hpp. The sections that a step of
// src/dsp reads alone have headers of their own: condition_config.hpp has trim and loudness,
// frame_config.hpp has stft and mel.
//
// The chain it describes, in this order (src/dsp/README.md has the formulas):
//   decode -> channels -> resample -> trim -> loudness -> zeros around -> frames -> spectrum -> mel
//   -> log -> normalize
//   -> at most max_frames -> padded to max_frames with pad_value.
// pad: samples moves the padding to the front: zeros up to max_frames hops before all that follows
// the trim. Plain values; validate() returns every problem at once. Immutable once a build has
// begun.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/condition_config.hpp"
#include "formats/feature_enums.hpp"
#include "formats/frame_config.hpp"
#include "formats/record_length.hpp"
#include "xtts/dtype.hpp"

namespace xtts::formats {

// Zeros that are added to the clip before its frames: fixed counts, then up to a multiple.
struct ZerosConfig {
  std::uint32_t front_samples = 0;
  std::uint32_t back_samples = 0;
  std::uint32_t multiple_samples = 1;
};

struct LogConfig {
  LogBase base = LogBase::kNatural;
  LogFloor mode = LogFloor::kClamp;
  double floor = 1e-5;
  double range = 0.0;  // above 0: the lowest value is the clip's largest minus this
};

struct NormalizeConfig {
  NormalizeMethod method = NormalizeMethod::kNone;
  double offset = 0.0;  // affine: (x - offset) / scale
  double scale = 1.0;
  std::vector<double> channel_offsets = {};  // channels: one each
  std::vector<double> channel_scales = {};
};

// The columns of a record.
struct ColumnsConfig {
  bool mel = true;
  bool linear = false;                  // the bins of the spectrum, as they go into the mel filters
  WaveColumn wave = WaveColumn::kNone;  // the conditioned samples, hop_samples a frame
  bool energy = false;                  // the L2 norm of each frame's magnitudes
};

// The normalization that `convert --bake corpus` has put behind the chain. Each channel is (x -
// mean) / max(std_deviation, 1e-5), where x is the chain's result, rounded to `dtype`. No recipe
// file sets it and no build makes it. It comes from the manifest of a baked cache, and describes
// its records.
struct BakedConfig {
  DType dtype = DType::kFloat32;
  std::vector<double> mean = {};  // one a channel; empty: nothing is baked
  std::vector<double> std_deviation = {};

  [[nodiscard]] bool is_baked() const noexcept { return !mean.empty(); }
};

struct FeatureConfig {
  ColumnsConfig columns = {};
  std::uint32_t sample_rate_hz = 22050;
  ChannelMix channels = ChannelMix::kMean;
  std::string resampler = "soxr_hq";
  TrimConfig trim;
  LoudnessConfig loudness;
  double sample_scale =
      1.0;  // samples are multiplied by it: 32768 where a reference counts as int16 does
  ZerosConfig zeros;
  StftConfig stft;
  SpectrumKind spectrum = SpectrumKind::kMagnitude;
  double spectrum_floor = 0.0;
  MelConfig mel;
  LogConfig log;
  NormalizeConfig normalize;
  RecordLength max_frames = 800;  // of a recipe that does not say: auto (recipe/key_table.hpp)
  PadWhat pad = PadWhat::kFrames;
  double pad_value = 0.0;
  // Unset means: drop a clip with text, truncate one without. The same holds for clips for which
  // kSplit finds no times.
  std::optional<TooLong> too_long;
  Precision precision = Precision::kDouble;
  BakedConfig baked;

  [[nodiscard]] std::vector<std::string> validate() const;
  // Returns the number of values in a frame.
  [[nodiscard]] std::uint32_t channel_count() const noexcept {
    return mel.scale == MelScale::kNone ? bin_count() : mel.n_mels;
  }
  [[nodiscard]] std::uint32_t bin_count() const noexcept { return stft.n_fft / 2 + 1; }
  // Returns the length of every clip with pad: samples.
  [[nodiscard]] std::uint64_t padded_samples() const noexcept {
    return std::uint64_t{max_frames} * stft.hop_samples;
  }
};

}  // namespace xtts::formats
