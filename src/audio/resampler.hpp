// Resampler: changes the rate of one channel of float32, as one of these libraries does:
//
// soxr_qq ... soxr_vhq: by libsoxr. Every output bit equals Python's soxr.resample (checked at nine
//   pairs of rates). The length is librosa's: ceil(n * (to / from)) in double, cut or filled with
//   zeros (librosa.resample with fix=True).
// torchaudio_sinc: torchaudio.transforms.Resample with its defaults, computed here (polyphase.hpp).
//   The taps are torchaudio's, and its sums are in float32 and another order: outputs differ by up
//   to 1e-7 of the peak. torchaudio.functional.resample computes its taps in float32; it differs by
//   up to 1e-5. The length is torchaudio's.
// ffmpeg_swr: `ffmpeg -ac 1 -ar RATE -acodec pcm_s16le`, as Whisper reads files, computed here. The
//   outputs are steps of 16 bits, also at equal rates. A few in a thousand are one step off, where
//   libswresample's float32 sums fall on the other side of a half.
// refuse: no other rate is taken.
//
// Each signal begins anew, so that the same bytes come out whatever came before. libsoxr's filter
// design and flush cost 0.07 ms a clip from 44.1 kHz and 0.2 ms from 48 kHz to 22.05 kHz (clips of
// 3 ms, compared with no resampling). The other filters are kept for clips of the same rates. One
// thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "audio/output_samples.hpp"
#include "audio/polyphase.hpp"
#include "xtts/status.hpp"

struct soxr;

namespace xtts::audio {

enum class ResampleMethod : std::uint8_t {
  kSoxrQq,
  kSoxrLq,
  kSoxrMq,
  kSoxrHq,
  kSoxrVhq,
  kTorchaudioSinc,
  kFfmpegSwr,
  kRefuse,
};

// "soxr_hq" -> kSoxrHq. kInvalidArgument for an unknown name.
[[nodiscard]] Result<ResampleMethod> method_of(const std::string& resampler);

struct ResamplerSetting {
  std::uint32_t from_hz = 0;
  std::uint32_t to_hz = 0;
  ResampleMethod method = ResampleMethod::kSoxrHq;

  // False if the samples stay as they are.
  [[nodiscard]] bool changes_samples() const noexcept {
    return from_hz != to_hz || method == ResampleMethod::kFfmpegSwr;
  }
  friend bool operator==(const ResamplerSetting&, const ResamplerSetting&) = default;
};

// librosa's length, which the methods of libsoxr give.
[[nodiscard]] std::uint64_t resampled_length(std::uint64_t length, std::uint32_t from_hz,
                                             std::uint32_t to_hz);

class Resampler {
 public:
  // finish() may cut up to this many of the last samples: no consumer may take them before.
  static constexpr std::size_t kHeldBackSamples = 4096;

  // Begins a new signal. kBadInput: the method refuses the rate.
  [[nodiscard]] Status start(const ResamplerSetting& setting);
  [[nodiscard]] Status push(std::span<const float> in, OutputSamples& out);
  // Returns all samples that are still inside, and makes the length the library's.
  [[nodiscard]] Status finish(OutputSamples& out);

  // The time in all calls so far, for all signals.
  [[nodiscard]] std::chrono::nanoseconds busy_time() const noexcept { return busy_time_; }

 private:
  struct Deleter {
    void operator()(soxr* resampler) const noexcept;
  };

  [[nodiscard]] Status push_soxr(std::span<const float> in, OutputSamples& out);
  [[nodiscard]] bool is_polyphase() const noexcept {
    return setting_.method == ResampleMethod::kTorchaudioSinc ||
           setting_.method == ResampleMethod::kFfmpegSwr;
  }

  std::unique_ptr<soxr, Deleter> soxr_;
  PolyphaseResampler polyphase_;
  ResamplerSetting polyphase_setting_;  // the setting of its filter
  ResamplerSetting setting_;
  std::uint64_t in_count_ = 0;
  std::uint64_t out_begin_ = 0;
  bool out_begin_known_ = false;
  std::chrono::nanoseconds busy_time_{};
};

}  // namespace xtts::audio
