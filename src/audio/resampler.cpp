#include "audio/resampler.hpp"

#include <soxr.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/formatted.hpp"
#include "base/lap_timer.hpp"
#include "base/try.hpp"

namespace xtts::audio {
namespace {

constexpr std::array<std::pair<const char*, ResampleMethod>, 8> kMethods = {{
    {"soxr_qq", ResampleMethod::kSoxrQq},
    {"soxr_lq", ResampleMethod::kSoxrLq},
    {"soxr_mq", ResampleMethod::kSoxrMq},
    {"soxr_hq", ResampleMethod::kSoxrHq},
    {"soxr_vhq", ResampleMethod::kSoxrVhq},
    {"torchaudio_sinc", ResampleMethod::kTorchaudioSinc},
    {"ffmpeg_swr", ResampleMethod::kFfmpegSwr},
    {"refuse", ResampleMethod::kRefuse},
}};

unsigned long soxr_quality(ResampleMethod method) {
  switch (method) {
    case ResampleMethod::kSoxrQq:
      return SOXR_QQ;
    case ResampleMethod::kSoxrLq:
      return SOXR_LQ;
    case ResampleMethod::kSoxrMq:
      return SOXR_MQ;
    case ResampleMethod::kSoxrVhq:
      return SOXR_VHQ;
    default:
      return SOXR_HQ;
  }
}

// The file is not at fault: libsoxr accepts any two rates, but it may lack memory.
Status failure(const char* doing, const char* what) {
  return {StatusCode::kResource, formatted("{}: libsoxr: {}", doing, what)};
}

}  // namespace

Result<ResampleMethod> method_of(const std::string& resampler) {
  std::string names;
  for (const auto& [name, method] : kMethods) {
    if (resampler == name) return method;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("unknown resampler \"{}\"; there are: {}", resampler, names));
}

void Resampler::Deleter::operator()(soxr* resampler) const noexcept {
  soxr_delete(resampler);
}

std::uint64_t resampled_length(std::uint64_t length, std::uint32_t from_hz, std::uint32_t to_hz) {
  const double ratio = static_cast<double>(to_hz) /
                       static_cast<double>(from_hz);  // in librosa's order of operations
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(length) * ratio));
}

Status Resampler::start(const ResamplerSetting& setting) {
  LapTimer timer;
  setting_ = setting;
  in_count_ = 0;
  out_begin_known_ = false;
  Status status;
  if (setting.method == ResampleMethod::kRefuse) {
    status = {StatusCode::kBadInput, formatted("{} Hz, and resampler=refuse takes {} Hz alone",
                                               setting.from_hz, setting.to_hz)};
  } else if (!is_polyphase()) {
    const soxr_io_spec_t floats = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(soxr_quality(setting.method), 0);
    soxr_error_t error = nullptr;
    soxr_.reset(soxr_create(setting.from_hz, setting.to_hz, 1, &error, &floats, &quality, nullptr));
    if (soxr_ == nullptr) status = failure("starting the resampler", soxr_strerror(error));
  } else if (polyphase_setting_ == setting) {
    polyphase_.begin();
  } else {
    polyphase_.set_filter(setting.method == ResampleMethod::kTorchaudioSinc
                              ? torchaudio_filter(setting.from_hz, setting.to_hz)
                              : swresample_filter(setting.from_hz, setting.to_hz));
    polyphase_setting_ = setting;
  }
  busy_time_ += timer.lap();
  return status;
}

// libsoxr takes an empty `in` for the end of the signal: the samples inside come out.
Status Resampler::push_soxr(std::span<const float> in, OutputSamples& out) {
  const bool is_end = in.empty();
  std::size_t made = 0;
  do {
    const std::size_t room = resampled_length(in.size(), setting_.from_hz, setting_.to_hz) + 4096;
    std::size_t used = 0;
    const soxr_error_t error = soxr_process(soxr_.get(), is_end ? nullptr : in.data(), in.size(),
                                            &used, out.room(room), room, &made);
    if (error != nullptr) return failure("resampling", soxr_strerror(error));
    in = in.subspan(used);
    out.advance(made);
  } while (is_end ? made > 0 : !in.empty());
  return {};
}

Status Resampler::push(std::span<const float> in, OutputSamples& out) {
  if (in.empty()) return {};
  LapTimer timer;
  if (!out_begin_known_) {
    out_begin_ = out.length();
    out_begin_known_ = true;
  }
  in_count_ += in.size();
  Status status;
  if (is_polyphase()) {
    polyphase_.push(in, out);
  } else {
    status = push_soxr(in, out);
  }
  busy_time_ += timer.lap();
  return status;
}

Status Resampler::finish(OutputSamples& out) {
  if (in_count_ == 0) return {};
  LapTimer timer;
  std::uint64_t length = resampled_length(in_count_, setting_.from_hz, setting_.to_hz);
  if (is_polyphase()) {
    length = polyphase_.finish(out);
  } else {
    XTTS_TRY(push_soxr({}, out));
  }
  out.set_length(out_begin_ + length);
  busy_time_ += timer.lap();
  return {};
}

}  // namespace xtts::audio
