#include "decode/resample.hpp"

#include <algorithm>
#include <new>

#include "base/try.hpp"
#include "decode/detail/resampler.hpp"

namespace xtts::decode {
namespace {

// libswresample counts in int, and makes room for all of its output at once.
constexpr std::size_t kPieceSamples = std::size_t{1} << 18U;

}  // namespace

struct SampleResampler::State {
  detail::Resampler resampler;
};

SampleResampler::SampleResampler() : state_(std::make_unique<State>()) {}
SampleResampler::~SampleResampler() = default;

std::chrono::nanoseconds SampleResampler::busy_time() const noexcept {
  return state_->resampler.busy_time();
}

Status SampleResampler::apply(std::span<const float> in, std::uint32_t from_hz,
                              std::uint32_t to_hz, const std::string& resampler,
                              std::vector<float>& out) {
  if (from_hz == to_hz) {
    out.assign(in.begin(), in.end());
    return {};
  }
  XTTS_ASSIGN(const int precision_bits, detail::precision_bits_of(resampler));
  const detail::Complaints complaints;
  detail::OutputSamples samples(out);
  XTTS_TRY(state_->resampler.start({from_hz, to_hz, precision_bits}, complaints));
  while (!in.empty()) {
    const std::size_t count = std::min(in.size(), kPieceSamples);
    XTTS_TRY(state_->resampler.push(in.first(count), samples, complaints));
    in = in.subspan(count);
  }
  XTTS_TRY(state_->resampler.finish(samples, complaints));
  samples.finish();
  return {};
}

}  // namespace xtts::decode
