#include "audio/resampler.hpp"

#include <soxr.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/lap_timer.hpp"
#include "base/try.hpp"

namespace xtts::audio {
namespace {

constexpr std::array<std::pair<const char*, unsigned long>, 5> kQualities = {{
    {"soxr_qq", SOXR_QQ},
    {"soxr_lq", SOXR_LQ},
    {"soxr_mq", SOXR_MQ},
    {"soxr_hq", SOXR_HQ},
    {"soxr_vhq", SOXR_VHQ},
}};

// The file is not at fault: libsoxr accepts any two rates, but it may lack memory.
Status failure(const char* doing, const char* what) {
  return {StatusCode::kResource, std::string(doing) + ": libsoxr: " + what};
}

}  // namespace

Result<unsigned long> quality_of(const std::string& resampler) {
  for (const auto& [name, quality] : kQualities) {
    if (resampler == name) return quality;
  }
  return Status(
      StatusCode::kInvalidArgument,
      "unknown resampler \"" + resampler + "\": soxr_hq, soxr_vhq, soxr_mq, soxr_lq or soxr_qq");
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
  const soxr_io_spec_t floats = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(setting.quality, 0);
  soxr_error_t error = nullptr;
  soxr_.reset(soxr_create(setting.from_hz, setting.to_hz, 1, &error, &floats, &quality, nullptr));
  busy_time_ += timer.lap();
  return soxr_ == nullptr ? failure("starting the resampler", soxr_strerror(error)) : Status();
}

// An empty `in` ends the signal: the samples inside come out.
Status Resampler::push(std::span<const float> in, OutputSamples& out) {
  LapTimer timer;
  if (!out_begin_known_) {
    out_begin_ = out.length();
    out_begin_known_ = true;
  }
  in_count_ += in.size();
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
  busy_time_ += timer.lap();
  return {};
}

Status Resampler::finish(OutputSamples& out) {
  XTTS_TRY(push({}, out));
  out.set_length(out_begin_ + resampled_length(in_count_, setting_.from_hz, setting_.to_hz));
  return {};
}

}  // namespace xtts::audio
