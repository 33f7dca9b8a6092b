// Resampler: changes the rate of one channel of float32, by libsoxr.
//
// In each of its qualities, every output bit equals Python's soxr.resample (checked at nine pairs
// of rates). libswresample, which contains libsoxr, offers only HQ and VHQ. The length is
// librosa's: ceil(n * (to / from)) in double, cut or filled with zeros (librosa.resample with
// fix=True).
//
// Each signal has a resampler of its own, so that the same bytes come out whatever was decoded
// before. Filter design and flush cost 0.07 ms a clip from 44.1 kHz and 0.2 ms from 48 kHz to 22.05
// kHz (clips of 3 ms, compared with no resampling; measured by way of libswresample). One
// thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "audio/output_samples.hpp"
#include "xtts/status.hpp"

struct soxr;

namespace xtts::audio {

struct ResamplerSetting {
  std::uint32_t from_hz = 0;
  std::uint32_t to_hz = 0;
  unsigned long quality = 4;  // soxr's number for the quality: HQ
};

// "soxr_hq" -> 4. kInvalidArgument for an unknown name.
[[nodiscard]] Result<unsigned long> quality_of(const std::string& resampler);

[[nodiscard]] std::uint64_t resampled_length(std::uint64_t length, std::uint32_t from_hz,
                                             std::uint32_t to_hz);

class Resampler {
 public:
  // finish() may cut up to this many of the last samples: no consumer may take them before.
  static constexpr std::size_t kHeldBackSamples = 4096;

  // Begins a new signal.
  [[nodiscard]] Status start(const ResamplerSetting& setting);
  [[nodiscard]] Status push(std::span<const float> in, OutputSamples& out);
  // Returns all samples that are still inside, and makes the length librosa's.
  [[nodiscard]] Status finish(OutputSamples& out);

  // The time in all calls so far, for all signals.
  [[nodiscard]] std::chrono::nanoseconds busy_time() const noexcept { return busy_time_; }

 private:
  struct Deleter {
    void operator()(soxr* resampler) const noexcept;
  };

  std::unique_ptr<soxr, Deleter> soxr_;
  ResamplerSetting setting_;
  std::uint64_t in_count_ = 0;
  std::uint64_t out_begin_ = 0;
  bool out_begin_known_ = false;
  std::chrono::nanoseconds busy_time_{};
};

}  // namespace xtts::audio
