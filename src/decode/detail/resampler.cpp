#include "decode/detail/resampler.hpp"

#include <algorithm>
#include <cmath>

extern "C" {
#include <libavutil/opt.h>
}

#include "base/lap_timer.hpp"
#include "base/try.hpp"

namespace xtts::decode::detail {
namespace {

Result<ResampleContextPtr> make_context(const ResamplerSetting& setting,
                                        const Complaints& complaints) {
  AVChannelLayout mono =
      AV_CHANNEL_LAYOUT_MONO;  // not const: FFmpeg 5.1 asks for pointers to plain layouts
  SwrContext* raw = nullptr;
  int code =
      swr_alloc_set_opts2(&raw, &mono, AV_SAMPLE_FMT_FLT, static_cast<int>(setting.to_hz), &mono,
                          AV_SAMPLE_FMT_FLT, static_cast<int>(setting.from_hz), 0, nullptr);
  ResampleContextPtr context(raw);
  if (code >= 0) code = av_opt_set(raw, "resampler", "soxr", 0);
  if (code >= 0) code = av_opt_set_double(raw, "precision", setting.precision_bits, 0);
  if (code < 0) return complaints.failure("setting up the resampler", code);
  return context;
}

// Not a property of the file: a libswresample without soxr, or no memory.
Status start_failure(int code, const Complaints& complaints) {
  if (code == AVERROR(ENOMEM))
    return {StatusCode::kResource, "starting the resampler: out of memory"};
  const Status failure = complaints.failure("starting the resampler", code);
  return {StatusCode::kUnsupported,
          failure.message() + "; libswresample must have been built with libsoxr"};
}

}  // namespace

Result<int> precision_bits_of(const std::string& resampler) {
  if (resampler == "soxr_hq") return 20;
  if (resampler == "soxr_vhq") return 28;
  for (const char* name : {"soxr_mq", "soxr_lq", "soxr_qq"}) {
    if (resampler == name) {
      return Status(StatusCode::kUnsupported,
                    "resampler " + resampler + ": libswresample offers soxr_hq and soxr_vhq only");
    }
  }
  return Status(StatusCode::kInvalidArgument,
                "unknown resampler \"" + resampler + "\": soxr_hq or soxr_vhq");
}

std::uint64_t resampled_length(std::uint64_t length, std::uint32_t from_hz, std::uint32_t to_hz) {
  const double ratio = static_cast<double>(to_hz) /
                       static_cast<double>(from_hz);  // in librosa's order of operations
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(length) * ratio));
}

Status Resampler::start(const ResamplerSetting& setting, const Complaints& complaints) {
  LapTimer timer;
  if (context_ == nullptr || !(setting == setting_)) {
    XTTS_ASSIGN(context_, make_context(setting, complaints));
    setting_ = setting;
  }
  in_count_ = 0;
  out_begin_known_ = false;
  const int code = swr_init(context_.get());
  busy_time_ += timer.lap();
  return code < 0 ? start_failure(code, complaints) : Status();
}

Status Resampler::push(std::span<const float> in, OutputSamples& out,
                       const Complaints& complaints) {
  LapTimer timer;
  if (!out_begin_known_) {
    out_begin_ = out.length();
    out_begin_known_ = true;
  }
  in_count_ += in.size();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(in.data());
  const int in_count = static_cast<int>(in.size());  // a codec frame, or none to flush
  // With room for everything that can come out now, libswresample never has to buffer input.
  const int room = std::max(swr_get_out_samples(context_.get(), in_count), 0) + 64;
  auto* target = reinterpret_cast<std::uint8_t*>(out.room(static_cast<std::size_t>(room)));
  const int got =
      swr_convert(context_.get(), &target, room, in.empty() ? nullptr : &bytes, in_count);
  busy_time_ += timer.lap();
  if (got < 0) return complaints.failure("resampling", got);
  out.advance(static_cast<std::size_t>(got));
  return {};
}

Status Resampler::finish(OutputSamples& out, const Complaints& complaints) {
  std::uint64_t before = 0;
  do {
    before = out.length();
    XTTS_TRY(push({}, out, complaints));
  } while (out.length() != before);
  out.set_length(out_begin_ + resampled_length(in_count_, setting_.from_hz, setting_.to_hz));
  return {};
}

}  // namespace xtts::decode::detail
