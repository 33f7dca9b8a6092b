#include "decode/detail/mixdown.hpp"

#include <array>
#include <cmath>
#include <type_traits>

namespace xtts::decode::detail {
namespace {

// A larger float sample is garbage, and 64 of them could overflow the sum. It is counted and
// replaced like an Inf.
constexpr float kMagnitudeMax = 1e30F;

template <typename Sample>
constexpr double kScale = 1.0;
template <>
constexpr double kScale<std::uint8_t> = 0x1p-7;
template <>
constexpr double kScale<std::int16_t> = 0x1p-15;
template <>
constexpr double kScale<std::int32_t> = 0x1p-31;
template <>
constexpr double kScale<std::int64_t> = 0x1p-63;

// The largest 16-bit sample counts as clipped, so that the count does not depend on the container.
// 8-bit samples cannot come so near to 1.
template <typename Sample>
constexpr float kFullScale =
    std::is_same_v<Sample, std::uint8_t> ? 127.0F / 128.0F : 32767.0F / 32768.0F;

template <typename Sample>
float to_float(Sample sample) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return static_cast<float>(sample);
  } else if constexpr (std::is_same_v<Sample, std::uint8_t>) {
    return static_cast<float>(static_cast<int>(sample) - 128) * static_cast<float>(kScale<Sample>);
  } else {
    return static_cast<float>(sample) * static_cast<float>(kScale<Sample>);
  }
}

// No branch in the loop, and 32-bit counters: the compiler turns it into SIMD (checked with
// -fopt-info-vec).
template <typename Sample>
void convert(const std::uint8_t* bytes, std::size_t count, float* out, SampleCounts& counts) {
  const auto* in =
      reinterpret_cast<const Sample*>(bytes);  // libav aligns its planes for any sample type
  std::uint32_t clipped = 0;
  std::uint32_t nonfinite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    float x = to_float(in[i]);
    const float magnitude = std::fabs(x);
    clipped += static_cast<std::uint32_t>(magnitude >= kFullScale<Sample>);
    if constexpr (std::is_floating_point_v<Sample>) {
      const bool usable = magnitude <= kMagnitudeMax;  // false for NaN too
      nonfinite += static_cast<std::uint32_t>(!usable);
      clipped -=
          static_cast<std::uint32_t>(magnitude > kMagnitudeMax);  // one or the other, not both
      x = usable ? x : 0.0F;
    }
    out[i] = x;
  }
  counts.clipped += clipped;
  counts.nonfinite += nonfinite;
}

using Convert = void (*)(const std::uint8_t*, std::size_t, float*, SampleCounts&);

Convert converter_of(AVSampleFormat packed_format) {
  switch (packed_format) {
    case AV_SAMPLE_FMT_U8:
      return convert<std::uint8_t>;
    case AV_SAMPLE_FMT_S16:
      return convert<std::int16_t>;
    case AV_SAMPLE_FMT_S32:
      return convert<std::int32_t>;
    case AV_SAMPLE_FMT_S64:
      return convert<std::int64_t>;
    case AV_SAMPLE_FMT_FLT:
      return convert<float>;
    case AV_SAMPLE_FMT_DBL:
      return convert<double>;
    default:
      return nullptr;
  }
}

// Where sample `i` of channel `c` lies among the floats: base + c * channel_step + i * frame_step.
struct Layout {
  const float* base;
  std::size_t channel_step;
  std::size_t frame_step;
};

void take_first(const Layout& in, std::size_t frames, float* out) {
  for (std::size_t i = 0; i < frames; ++i) out[i] = in.base[i * in.frame_step];
}

void mean_of_two(const Layout& in, std::size_t frames, float* out) {
  const float* left = in.base;
  const float* right = in.base + in.channel_step;
  if (in.frame_step == 1) {
    for (std::size_t i = 0; i < frames; ++i) out[i] = (left[i] + right[i]) / 2.0F;
  } else {
    for (std::size_t i = 0; i < frames; ++i) out[i] = (left[2 * i] + left[2 * i + 1]) / 2.0F;
  }
}

float sum_in_order(const float* x, std::size_t count, std::size_t step) {
  float sum = x[0];
  for (std::size_t c = 1; c < count; ++c) sum += x[c * step];
  return sum;
}

// numpy's pairwise summation for 8 to 128 terms: eight running sums, joined as a tree, then the
// remaining terms.
float sum_pairwise(const float* x, std::size_t count, std::size_t step) {
  std::array<float, 8> sums{};
  for (std::size_t j = 0; j < 8; ++j) sums[j] = x[j * step];
  std::size_t c = 8;
  for (; c < count - count % 8; c += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += x[(c + j) * step];
  }
  float sum =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (; c < count; ++c) sum += x[c * step];
  return sum;
}

void mean_of_many(const Layout& in, std::size_t channels, std::size_t frames, float* out) {
  const auto divisor = static_cast<float>(channels);
  for (std::size_t i = 0; i < frames; ++i) {
    const float* x = in.base + i * in.frame_step;
    const float sum = channels < 8 ? sum_in_order(x, channels, in.channel_step)
                                   : sum_pairwise(x, channels, in.channel_step);
    out[i] = sum / divisor;
  }
}

}  // namespace

bool Mixdown::mix(const PcmView& pcm, audio::Mix how, float* out, SampleCounts& counts) {
  const Convert convert_samples = converter_of(av_get_packed_sample_fmt(pcm.format));
  if (convert_samples == nullptr) return false;
  const auto channels = static_cast<std::size_t>(pcm.channel_count);
  if (channels == 1) {
    convert_samples(pcm.planes[0], pcm.frame_count, out, counts);
    return true;
  }
  // All channels are converted, even if only one is used: the facts cover all of them.
  const std::size_t all = channels * pcm.frame_count;
  if (scratch_.size() < all) scratch_.resize(all);
  const bool planar = av_sample_fmt_is_planar(pcm.format) != 0;
  if (planar) {
    for (std::size_t c = 0; c < channels; ++c) {
      convert_samples(pcm.planes[c], pcm.frame_count, scratch_.data() + c * pcm.frame_count,
                      counts);
    }
  } else {
    convert_samples(pcm.planes[0], all, scratch_.data(), counts);
  }
  const Layout layout =
      planar ? Layout{scratch_.data(), pcm.frame_count, 1} : Layout{scratch_.data(), 1, channels};
  if (how == audio::Mix::kFirst) {
    take_first(layout, pcm.frame_count, out);
  } else if (channels == 2) {
    mean_of_two(layout, pcm.frame_count, out);
  } else {
    mean_of_many(layout, channels, pcm.frame_count, out);
  }
  return true;
}

}  // namespace xtts::decode::detail
