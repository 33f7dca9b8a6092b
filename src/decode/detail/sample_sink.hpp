// SampleSink: processes a decoded frame: mix, facts, digest, resample, append.
//
// It keeps its scratch and its resampler from clip to clip. One thread at a time.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "audio/output_samples.hpp"
#include "audio/resampler.hpp"
#include "decode/detail/complaints.hpp"
#include "decode/detail/mixdown.hpp"

namespace xtts::decode::detail {

class SampleSink {
 public:
  // `take` and `complaints` must outlive the clip.
  [[nodiscard]] Status begin(const audio::DecodeRequest& request, const audio::TakeSamples& take,
                             const Complaints& complaints);
  // Takes the first `frame_count` samples of the frame. Fails if the source is longer than the
  // request allows.
  [[nodiscard]] Status push(const AVFrame& frame, std::size_t frame_count);
  // Completes the samples and fills the facts that come from samples; no more frames after this.
  [[nodiscard]] Status finish(audio::SourceFacts& facts);

  // Further pushed frames are ignored then.
  [[nodiscard]] bool is_over_long() const noexcept {
    return seconds_ > seconds_max_ * (1.0 + 1e-9);  // a sum of many frames rounds
  }
  [[nodiscard]] std::uint64_t frame_count() const noexcept { return frame_count_; }
  // The total of all clips so far.
  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept {
    return resampler_.busy_time();
  }
  [[nodiscard]] std::uint32_t sample_rate_hz() const noexcept { return first_rate_hz_; }

 private:
  [[nodiscard]] Status change_rate(std::uint32_t rate_hz);
  [[nodiscard]] Status hand_over();
  // Sound at its own rate stays as it is decoded.
  [[nodiscard]] bool resamples() const noexcept {
    const audio::ResamplerSetting setting{rate_hz_, target_rate_hz_, method_};
    return rate_hz_ != target_rate_hz_ || (setting.changes_samples() && !keeps_rate_);
  }

  Mixdown mixdown_;
  audio::Resampler resampler_;
  std::vector<float> mixed_;

  audio::OutputSamples out_;

  // State of the clip in work.
  const audio::TakeSamples* take_ = nullptr;
  const Complaints* complaints_ = nullptr;
  Hasher128 hasher_;
  SampleCounts counts_;
  audio::Mix mix_ = audio::Mix::kMean;
  audio::ResampleMethod method_ = audio::ResampleMethod::kSoxrHq;
  bool keeps_rate_ = false;  // the request is for the source's own rate
  std::uint32_t target_rate_hz_ = 0;
  std::uint32_t first_rate_hz_ = 0;
  std::uint32_t rate_hz_ = 0;
  std::uint32_t rate_change_count_ = 0;
  int channel_count_ = 0;
  std::uint64_t frame_count_ = 0;
  double seconds_ = 0.0;
  double seconds_max_ = 0.0;
  std::uint64_t sample_count_ = 0;  // over all channels
};

}  // namespace xtts::decode::detail
