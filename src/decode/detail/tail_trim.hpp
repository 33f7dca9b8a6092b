// TailTrim: cuts the padding at the end of the last frame, without trusting a header.
//
// It holds back the frame that reaches past the promised end. If this frame is the last one, the
// samples past the end are padding and are cut. If more frames follow, the promise was wrong and
// nothing is cut. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/try.hpp"
#include "decode/detail/libav.hpp"
#include "decode/detail/sample_sink.hpp"

namespace xtts::decode::detail {

class TailTrim {
 public:
  // `held` is scratch of the caller.
  TailTrim(std::optional<std::uint64_t> heard_frame_count, AVFrame& held)
      : heard_frame_count_(heard_frame_count), held_(held) {}

  [[nodiscard]] Status push(AVFrame& frame, SampleSink& sink) {
    if (!heard_frame_count_.has_value()) return sink.push(frame, count_of(frame));
    if (holds_) {
      heard_frame_count_.reset();
      holds_ = false;
      XTTS_TRY(sink.push(held_, count_of(held_)));
      return sink.push(frame, count_of(frame));
    }
    if (sink.frame_count() + count_of(frame) <= *heard_frame_count_)
      return sink.push(frame, count_of(frame));
    av_frame_unref(&held_);
    av_frame_move_ref(&held_, &frame);
    holds_ = true;
    return {};
  }

  [[nodiscard]] Status finish(SampleSink& sink) {
    if (!holds_) return {};
    holds_ = false;
    const std::uint64_t sent = sink.frame_count();
    return sink.push(held_, *heard_frame_count_ > sent ? *heard_frame_count_ - sent : 0);
  }

 private:
  static std::size_t count_of(const AVFrame& frame) {
    return static_cast<std::size_t>(frame.nb_samples);
  }

  std::optional<std::uint64_t> heard_frame_count_;
  AVFrame& held_;
  bool holds_ = false;
};

}  // namespace xtts::decode::detail
