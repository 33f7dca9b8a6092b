#include "decode/detail/sample_sink.hpp"

#include <span>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::decode::detail {
namespace {

constexpr std::size_t kHandOverSamples = std::size_t{1} << 16U;

Status check_parameters(const AVFrame& frame) {
  const int channels = frame.ch_layout.nb_channels;
  if (frame.sample_rate < 1 || frame.sample_rate > static_cast<int>(audio::kSampleRateHzMax)) {
    return {StatusCode::kBadInput, formatted("a sample rate of {} Hz", frame.sample_rate)};
  }
  if (channels < 1 || channels > kChannelsMax) {
    return {StatusCode::kBadInput, formatted("{} channels", channels)};
  }
  return {};
}

}  // namespace

Status SampleSink::begin(const audio::DecodeRequest& request, const audio::TakeSamples& take,
                         const Complaints& complaints) {
  XTTS_ASSIGN(method_, audio::method_of(request.resampler));
  out_.begin();
  take_ = &take;
  complaints_ = &complaints;
  hasher_ = Hasher128();
  counts_ = {};
  mix_ = request.mix;
  target_rate_hz_ = request.target_rate_hz;
  keeps_rate_ = request.target_rate_hz == 0;
  first_rate_hz_ = rate_hz_ = rate_change_count_ = 0;
  channel_count_ = 0;
  frame_count_ = sample_count_ = 0;
  seconds_ = 0.0;
  seconds_max_ = request.source_seconds_max;
  return {};
}

// A file may change its rate half way (joined MP3s, chained Ogg). Each stretch is then a signal of
// its own.
Status SampleSink::change_rate(std::uint32_t rate_hz) {
  if (rate_hz_ != 0) {
    ++rate_change_count_;
    if (resamples()) XTTS_TRY(resampler_.finish(out_));
  } else {
    first_rate_hz_ = rate_hz;
    if (target_rate_hz_ == 0) target_rate_hz_ = rate_hz;
  }
  rate_hz_ = rate_hz;
  if (!resamples()) return {};
  return resampler_.start({rate_hz_, target_rate_hz_, method_});
}

Status SampleSink::hand_over() {
  const std::size_t held_back = resamples() ? audio::Resampler::kHeldBackSamples : 0;
  const auto held = out_.held();
  if (held.size() < kHandOverSamples + held_back) return {};
  const auto taken = held.first(held.size() - held_back);
  XTTS_TRY((*take_)(taken));
  out_.drop_front(taken.size());
  return {};
}

Status SampleSink::push(const AVFrame& frame, std::size_t frame_count) {
  if (frame_count == 0) return {};
  XTTS_TRY(check_parameters(frame));
  const auto rate_hz = static_cast<std::uint32_t>(frame.sample_rate);
  if (rate_hz != rate_hz_) XTTS_TRY(change_rate(rate_hz));
  if (channel_count_ == 0) channel_count_ = frame.ch_layout.nb_channels;

  seconds_ += static_cast<double>(frame_count) / rate_hz;
  if (is_over_long()) return {};
  frame_count_ += frame_count;
  sample_count_ += frame_count * static_cast<std::uint64_t>(frame.ch_layout.nb_channels);

  // Without a resampler the mix is the output, and is written there directly.
  if (resamples() && mixed_.size() < frame_count) mixed_.resize(frame_count);
  float* const mixed = resamples() ? mixed_.data() : out_.room(frame_count);
  const PcmView pcm{static_cast<AVSampleFormat>(frame.format), frame.ch_layout.nb_channels,
                    frame_count, frame.extended_data};
  if (!mixdown_.mix(pcm, mix_, mixed, counts_)) {
    return {StatusCode::kBadInput, "its decoder gives samples of an unknown kind"};
  }
  const std::span<const float> view(mixed, frame_count);
  hasher_.update(std::as_bytes(view));
  if (resamples()) {
    XTTS_TRY(resampler_.push(view, out_));
  } else {
    out_.advance(frame_count);
  }
  return hand_over();
}

Status SampleSink::finish(audio::SourceFacts& facts) {
  if (rate_hz_ != 0 && resamples()) XTTS_TRY(resampler_.finish(out_));
  if (!out_.held().empty()) XTTS_TRY((*take_)(out_.held()));
  facts.sample_rate_hz = first_rate_hz_;
  facts.channel_count = static_cast<std::uint16_t>(channel_count_);
  facts.frame_count = frame_count_;
  facts.clipped_sample_count = counts_.clipped;
  facts.nonfinite_sample_count = counts_.nonfinite;
  facts.pcm_digest = hasher_.finish();
  facts.is_over_long = is_over_long();
  if (rate_change_count_ > 0) {
    facts.warnings.push_back({.kind = audio::Warning::Kind::kRateChanges,
                              .numbers = {static_cast<double>(rate_change_count_)}});
  }
  if (sample_count_ > 0 && counts_.nonfinite == sample_count_) {
    return {StatusCode::kBadInput, "every sample is NaN, infinite or beyond 1e30"};
  }
  return {};
}

}  // namespace xtts::decode::detail
