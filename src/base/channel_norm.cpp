#include "base/channel_norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/convert_floats.hpp"
#include "base/formatted.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace xtts {
namespace {

#if defined(__x86_64__)

// The target has no FMA, so the compiler cannot contract operations. It could not here in any
// case: the subtraction comes first.
__attribute__((target("avx"))) std::size_t normalize_avx(const float* in, float* out,
                                                         const float* means, const float* divisors,
                                                         std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 apart = _mm256_sub_ps(_mm256_loadu_ps(in + i), _mm256_loadu_ps(means + i));
    _mm256_storeu_ps(out + i, _mm256_div_ps(apart, _mm256_loadu_ps(divisors + i)));
  }
  return i;
}

bool detect_avx() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx") != 0;
}

#else

std::size_t normalize_avx(const float*, float*, const float*, const float*, std::size_t) noexcept {
  return 0;
}
bool detect_avx() noexcept {
  return false;
}

#endif

bool has_avx() noexcept {
  static const bool has = detect_avx();
  return has;
}

Status refuse(std::size_t channel, const char* what) {
  return {StatusCode::kInvalidArgument,
          formatted("the {} of channel {} is not {}", what, channel,
                    std::string_view(what) == "mean" ? "a finite float32"
                                                     : "a finite float32 from 0 up")};
}

bool fits(double value) {
  return std::isfinite(value) &&
         std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace

ChannelNorm::ChannelNorm(std::vector<float> means, std::vector<float> divisors) noexcept
    : means_(std::move(means)), divisors_(std::move(divisors)) {}

Result<ChannelNorm> ChannelNorm::create(std::span<const double> means,
                                        std::span<const double> deviations) {
  if (means.empty() || means.size() != deviations.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} means and {} deviations: one of each a channel are needed",
                            means.size(), deviations.size()));
  }
  std::vector<float> mean_floats;
  std::vector<float> divisors;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (!fits(means[i])) return refuse(i, "mean");
    if (!fits(deviations[i]) || deviations[i] < 0.0) return refuse(i, "deviation");
    mean_floats.push_back(static_cast<float>(means[i]));
    divisors.push_back(static_cast<float>(std::max(deviations[i], kDeviationMin)));
  }
  return ChannelNorm(std::move(mean_floats), std::move(divisors));
}

void ChannelNorm::apply(std::span<const float> in, std::span<float> out, std::size_t first_channel,
                        NormPath path) const noexcept {
  const bool is_fast = path != NormPath::kScalar && has_avx();
  std::size_t channel = first_channel;
  for (std::size_t done = 0; done < in.size();) {
    const std::size_t count = std::min(channel_count() - channel, in.size() - done);
    const float* const means = means_.data() + channel;
    const float* const divisors = divisors_.data() + channel;
    const float* const from = in.data() + done;
    float* const to = out.data() + done;
    std::size_t i = is_fast ? normalize_avx(from, to, means, divisors, count) : 0;
    for (; i < count; ++i) to[i] = (from[i] - means[i]) / divisors[i];
    done += count;
    channel = 0;
  }
}

void ChannelNorm::apply(std::span<const std::byte> in, DType from, std::span<std::byte> out,
                        DType to, std::size_t first_channel) const noexcept {
  if (to == DType::kFloat32) {
    const std::span<float> floats = numbers_in<float>(out);
    if (from == DType::kFloat32) return apply(numbers_in<float>(in), floats, first_channel);
    widen_floats(in, from, floats);
    return apply(floats, floats, first_channel);
  }
  std::array<float, 1024> between;
  const std::size_t count = in.size() / size_bytes(from);
  for (std::size_t done = 0; done < count; done += between.size()) {
    const std::size_t now = std::min(between.size(), count - done);
    const std::span<float> floats = std::span(between).first(now);
    const auto part = in.subspan(done * size_bytes(from), now * size_bytes(from));
    apply(part, from, std::as_writable_bytes(floats), DType::kFloat32,
          (first_channel + done) % channel_count());
    narrow_floats(floats, to, out.subspan(done * size_bytes(to), now * size_bytes(to)));
  }
}

}  // namespace xtts
