#include "audio/sample_resampler.hpp"

#include <algorithm>

#include "audio/resampler.hpp"
#include "base/try.hpp"

namespace xtts::audio {
namespace {

// The input is resampled in pieces of at most this size, which bounds the room for the output.
constexpr std::size_t kPieceSamples = std::size_t{1} << 18U;

}  // namespace

struct SampleResampler::State {
  Resampler resampler;
  OutputSamples out;
  bool changes_samples = false;
};

SampleResampler::SampleResampler() : state_(std::make_unique<State>()) {}
SampleResampler::~SampleResampler() = default;

std::chrono::nanoseconds SampleResampler::busy_time() const noexcept {
  return state_->resampler.busy_time();
}

Status SampleResampler::begin(std::uint32_t from_hz, std::uint32_t to_hz,
                              const std::string& resampler) {
  XTTS_ASSIGN(const ResampleMethod method, method_of(resampler));
  const ResamplerSetting setting{from_hz, to_hz, method};
  state_->changes_samples = setting.changes_samples();
  if (!state_->changes_samples) return {};
  state_->out.begin();
  return state_->resampler.start(setting);
}

Status SampleResampler::push(std::span<const float> in, const TakeSamples& take) {
  if (!state_->changes_samples) return take(in);
  while (!in.empty()) {
    const auto piece = in.first(std::min(in.size(), kPieceSamples));
    in = in.subspan(piece.size());
    XTTS_TRY(state_->resampler.push(piece, state_->out));
    const auto held = state_->out.held();
    if (held.size() <= Resampler::kHeldBackSamples) continue;
    const auto ready = held.first(held.size() - Resampler::kHeldBackSamples);
    XTTS_TRY(take(ready));
    state_->out.drop_front(ready.size());
  }
  return {};
}

Status SampleResampler::finish(const TakeSamples& take) {
  if (!state_->changes_samples) return {};
  XTTS_TRY(state_->resampler.finish(state_->out));
  const auto rest = state_->out.held();
  return rest.empty() ? Status() : take(rest);
}

}  // namespace xtts::audio
