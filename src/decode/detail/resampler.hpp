// Resampler: one channel of float32 from one rate to another, by libsoxr through libswresample.
//
// precision 20 is soxr's HQ and 28 its VHQ: every output bit equals Python's soxr.resample (checked
// at nine pairs of rates). soxr's other qualities cannot be reached through libswresample (its
// precision 16 is another filter than MQ, 4e-3 off), so they are refused rather than approximated.
// The length is librosa's: ceil(n * (to / from)) in double, cut or filled with zeros
// (librosa.resample with fix=True).
//
// The context is kept between clips and initialised anew for each: soxr cannot be rewound, and the
// same bytes must come out whatever was decoded before. Filter design and flush cost 0.07 ms a clip
// from 44.1 kHz and 0.2 ms from 48 kHz to 22.05 kHz (clips of 3 ms, against the same without
// resampling). One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "decode/detail/complaints.hpp"
#include "decode/detail/libav.hpp"
#include "decode/detail/output_samples.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

struct ResamplerSetting {
  std::uint32_t from_hz = 0;
  std::uint32_t to_hz = 0;
  int precision_bits = 20;

  friend bool operator==(const ResamplerSetting&, const ResamplerSetting&) = default;
};

// "soxr_hq" -> 20. kUnsupported for a quality of soxr's that we lack, kInvalidArgument for an
// unknown name.
[[nodiscard]] Result<int> precision_bits_of(const std::string& resampler);

[[nodiscard]] std::uint64_t resampled_length(std::uint64_t length, std::uint32_t from_hz,
                                             std::uint32_t to_hz);

class Resampler {
 public:
  // finish() may cut so many of the last samples: until then nobody is to take them.
  static constexpr std::size_t kHeldBackSamples = 4096;

  // Begins a new signal.
  [[nodiscard]] Status start(const ResamplerSetting& setting, const Complaints& complaints);
  [[nodiscard]] Status push(std::span<const float> in, OutputSamples& out,
                            const Complaints& complaints);
  // Everything still inside comes out, and the length becomes librosa's.
  [[nodiscard]] Status finish(OutputSamples& out, const Complaints& complaints);

  // In all calls so far, for all signals.
  [[nodiscard]] std::chrono::nanoseconds busy_time() const noexcept { return busy_time_; }

 private:
  ResampleContextPtr context_;
  ResamplerSetting setting_;
  std::uint64_t in_count_ = 0;
  std::uint64_t out_begin_ = 0;
  bool out_begin_known_ = false;
  std::chrono::nanoseconds busy_time_{};
};

}  // namespace xtts::decode::detail
