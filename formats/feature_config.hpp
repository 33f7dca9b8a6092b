// FeatureConfig: everything that decides the numbers of the features, and nothing else. It is hashed into the fingerprint
// (see fingerprint.hpp), so a field added here must be written by to_canonical_json and read by the recipe parser.
//
// The chain it describes, in this order:
//   decode -> channels -> resample -> trim -> loudness -> (pad samples) -> frames -> spectrum -> mel -> log -> normalize
//   -> at most max_frames -> padded to max_frames with pad_value.
// Plain values; validate() returns every problem at once. Immutable once a build has begun.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xtts::formats {

enum class ChannelMix { kMean, kFirst };
enum class TrimMethod { kNone, kTopDb };
enum class LoudnessMethod { kNone, kRms, kPeak };
enum class WindowKind { kHann };
enum class WindowSymmetry { kPeriodic, kSymmetric };
// kCenter: n_fft/2 padded on both sides. kSame: (n_fft - hop)/2 on both sides, not centred. kNone: whole frames only.
// kEnd: zeros after the last sample, ceil(n/hop) frames.
enum class Framing { kCenter, kSame, kNone, kEnd };
enum class PadMode { kZeros, kReflect };
// kRootPlus: sqrt(power + spectrum_floor).
enum class SpectrumKind { kMagnitude, kPower, kRootPlus };
enum class MelScale { kSlaney, kHtk };
enum class MelNorm { kNone, kSlaney };
enum class LogBase { kNone, kNatural, kTen };
enum class LogFloor { kClamp, kAdd };  // log(max(x, floor)) or log(x + floor)
enum class NormalizeMethod { kNone, kAffine };
enum class TooLong { kDrop, kTruncate };
enum class Precision { kDouble, kFloat32 };  // of the FFT; the truth is double

struct TrimConfig {
  TrimMethod method = TrimMethod::kNone;
  double top_db = 20.0;  // below the loudest frame's RMS
  std::uint32_t frame_samples = 1024;
  std::uint32_t hop_samples = 256;
};

struct LoudnessConfig {
  LoudnessMethod method = LoudnessMethod::kNone;
  double target = 0.1;          // RMS or peak, full scale = 1
  bool limit_peak = true;       // rms: the gain is lowered so that the peak stays at or under 1
  bool then_peak_to_one = false;  // after the gain, divide by the peak
};

struct StftConfig {
  std::uint32_t n_fft = 1024;
  std::uint32_t win_samples = 1024;  // centred in n_fft, as librosa and torch do
  std::uint32_t hop_samples = 256;
  WindowKind window = WindowKind::kHann;
  WindowSymmetry symmetry = WindowSymmetry::kPeriodic;
  Framing framing = Framing::kCenter;
  PadMode pad_mode = PadMode::kReflect;
};

struct MelConfig {
  std::uint32_t n_mels = 80;
  double f_min_hz = 0.0;
  double f_max_hz = 11025.0;
  MelScale scale = MelScale::kSlaney;
  MelNorm norm = MelNorm::kSlaney;
};

struct LogConfig {
  LogBase base = LogBase::kNatural;
  LogFloor mode = LogFloor::kClamp;
  double floor = 1e-5;
};

struct NormalizeConfig {
  NormalizeMethod method = NormalizeMethod::kNone;
  double offset = 0.0;  // affine: (x - offset) / scale
  double scale = 1.0;
};

struct FeatureConfig {
  std::uint32_t sample_rate_hz = 22050;
  ChannelMix channels = ChannelMix::kMean;
  std::string resampler = "soxr_hq";
  TrimConfig trim;
  LoudnessConfig loudness;
  StftConfig stft;
  SpectrumKind spectrum = SpectrumKind::kMagnitude;
  double spectrum_floor = 0.0;
  MelConfig mel;
  LogConfig log;
  NormalizeConfig normalize;
  std::uint32_t max_frames = 800;
  double pad_value = 0.0;
  std::optional<TooLong> too_long;  // unset: drop where there is text, truncate where there is none
  Precision precision = Precision::kDouble;

  [[nodiscard]] std::vector<std::string> validate() const;
};

}  // namespace xtts::formats
