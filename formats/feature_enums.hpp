// The choices of a recipe's features section (feature_config.hpp). They have their own header, so
// that another header can name a choice without depending on every key.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace xtts::formats {

// The values of `resampler`; src/audio/resampler.hpp says what each does.
inline constexpr std::array<std::string_view, 8> kResamplers{
    "soxr_hq",  "torchaudio_sinc", "ffmpeg_swr", "refuse",
    "soxr_vhq", "soxr_mq",         "soxr_lq",    "soxr_qq"};
// The one that takes no other rate: the clip is rejected (Rule::kOtherRate).
inline constexpr std::string_view kRefuseRates = "refuse";

enum class ChannelMix { kMean, kFirst };
enum class TrimMethod { kNone, kTopDb };
// kLimit lowers a peak above the target to the target.
enum class LoudnessMethod { kNone, kRms, kPeak, kLimit, kLufs };
// Rounding happens after each step in float32, as NumPy does with float32 arrays, or once at the
// end of steps in double.
enum class Rounding { kEachStep, kOnce };
// kPovey is Kaldi's window: a symmetric Hann to the power of 0.85.
enum class WindowKind { kHann, kHamming, kPovey };
enum class WindowSymmetry { kPeriodic, kSymmetric };
// kCenter: n_fft/2 padded on both sides. kSame: (n_fft - hop)/2 on both sides, not centred. kNone:
// whole frames only. kEnd: zeros after the last sample, ceil(n/hop) frames. kSnipEdges, kKeepEdges:
// as Kaldi, frames of win_samples (zeros behind them, up to n_fft), whole ones only, or
// round(n/hop) of them around the middle of each hop.
enum class Framing { kCenter, kSame, kNone, kEnd, kSnipEdges, kKeepEdges };
// kReflect: about the first and the last sample, as torch, which refuses clips that are too short
// for it. kReflectAgain: back and forth for those, as NumPy. kSymmetric: with the edge sample
// itself, as Kaldi.
enum class PadMode { kZeros, kReflect, kReflectAgain, kSymmetric };
// kRootPlus: sqrt(power + spectrum_floor).
enum class SpectrumKind { kMagnitude, kPower, kRootPlus };
// kNone: no filters, the n_fft/2 + 1 bins themselves.
enum class MelScale { kSlaney, kHtk, kNone };
enum class MelTriangles { kHz, kMel };  // straight lines over Hz, or over mels
enum class MelNorm { kNone, kSlaney };
enum class LogBase { kNone, kNatural, kTen };
enum class LogFloor { kClamp, kAdd };  // log(max(x, floor)) or log(x + floor)
// kMinMax: (x - min) / max(max - min, 1e-6) over the clip. kMeanVariance: (x - mean) /
// max(deviation, 1e-5), each channel over the clip. kChannels: (x - offset) / scale, each channel
// by its own.
enum class NormalizeMethod { kNone, kAffine, kMinMax, kMeanVariance, kChannels };
// The column of the samples that the features are computed from.
enum class WaveColumn { kNone, kInt16, kFloat32 };
enum class PadWhat { kFrames, kSamples };
enum class TooLong { kDrop, kTruncate, kSplit };
enum class Precision { kDouble, kFloat32 };  // precision of the FFT; double is the reference

// The columns that are computed from sound, in the order of their numbers.
enum class SoundColumn { kMel, kLinear, kWave, kEnergy };
inline constexpr std::size_t kSoundColumnCount = 4;

}  // namespace xtts::formats
