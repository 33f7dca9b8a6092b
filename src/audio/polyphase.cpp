#include "audio/polyphase.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <ranges>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace xtts::audio {
namespace {

using std::numbers::pi;

constexpr std::size_t kLanes = 8;
constexpr std::size_t kBatchSamples = 4096;
constexpr std::size_t kSamplesToLookAt = 4096;

std::size_t whole_lanes(double count) {
  return (static_cast<std::size_t>(count) + kLanes - 1) / kLanes * kLanes;
}

PolyphaseFilter without_taps(std::uint32_t from_hz, std::uint32_t to_hz) {
  const std::uint32_t divisor = std::gcd(from_hz, to_hz);
  PolyphaseFilter filter;
  filter.from = from_hz / divisor;
  filter.to = to_hz / divisor;
  return filter;
}

double sinc(double x) {
  return x == 0.0 ? 1.0 : std::sin(x) / x;
}

// The modified Bessel function of order 0, by its series.
double bessel_i0(double x) {
  double sum = 1.0;
  double term = 1.0;
  for (double k = 1.0; term > sum * 1e-17; k += 1.0) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

// Eight sums, each of every eighth product. Both versions give the same bits.
double sum_of(const std::array<double, kLanes>& sums) {
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

struct PlainDot {
  double operator()(const float* taps, const double* samples, std::size_t count) const noexcept {
    std::array<double, kLanes> sums = {};
    for (std::size_t i = 0; i < count; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k)
        sums[k] += static_cast<double>(taps[i + k]) * samples[i + k];
    }
    return sum_of(sums);
  }
};

// Halves go up, as in libswresample's mean of two channels of 16 bits. The conversion to an integer
// cuts off, which is std::floor() above 0.
inline double to_step_of_int16(double value) {
  const double steps = std::clamp(value * 32768.0, -32768.0, 32767.0);
  return (static_cast<std::int32_t>(steps + 32768.5) - 32768) / 32768.0;
}

// A sample of 16 bits, or the mean of two.
bool fits_int16(double value) {
  const double steps = value * 65536.0;
  return steps == std::floor(steps) && std::fabs(value) <= 1.0;
}

// The taps of libswresample for an output at `phase` of 0 to 1 between two samples, unscaled.
std::vector<double> swresample_row(double phase, double factor, std::size_t count) {
  constexpr double kBeta = 9.0;
  const std::size_t center_index = (count - 1) / 2;  // rounded down, as there
  const auto center = static_cast<double>(center_index);
  std::vector<double> row(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(i) - center - phase;
    const double w = 2.0 * distance / static_cast<double>(count);
    row[i] =
        sinc(pi * distance * factor) * bessel_i0(kBeta * std::sqrt(std::max(1.0 - w * w, 0.0)));
  }
  return row;
}

// torchaudio puts the length into a tensor of float32, which rounds the length of a clip of a few
// seconds. It has only as many samples as its whole blocks.
std::uint64_t torchaudio_length(const PolyphaseFilter& filter, std::uint64_t length) {
  const double exact = static_cast<double>(filter.to * length) / static_cast<double>(filter.from);
  const auto rounded = static_cast<std::uint64_t>(std::ceil(static_cast<float>(exact)));
  return std::min(rounded, filter.to * (length / filter.from + 1));
}

// libswresample mirrors half of what lies in its buffer once no whole row of samples is left.
std::uint64_t swresample_length(const PolyphaseFilter& filter, std::uint64_t length) {
  const auto outputs_before = [&](std::uint64_t sample) {
    return (sample * filter.to + filter.from - 1) / filter.from;
  };
  if (length < filter.row_length) return outputs_before(length);  // it gives fewer, or none
  const std::uint64_t behind = filter.row_length / 2;  // samples of a row from its centre's next on
  const std::uint64_t whole = outputs_before(length - behind);
  const std::uint64_t center = whole * filter.from / filter.to;
  const std::uint64_t left = length + (filter.row_length - behind - 1) - center;
  const std::uint64_t mirrored = (std::min<std::uint64_t>(left, filter.row_length) + 1) / 2;
  return outputs_before(length + mirrored - behind);
}

// The outputs that are in work.
struct Rows {
  const PolyphaseFilter& filter;
  const float* taps;
  std::span<const double> held;
  std::int64_t held_begin;
  std::uint64_t length_max;
  std::uint64_t& block;
  std::uint32_t& row;
};

// Writes at most kBatchSamples outputs, and returns their count.
template <typename Dot>
[[gnu::always_inline]] inline std::size_t make_outputs(const Rows& rows, float* to, Dot dot) {
  const PolyphaseFilter& filter = rows.filter;
  const std::size_t tap_count = filter.tap_count;
  const bool rounds = filter.steps == PolyphaseFilter::Steps::kInt16;
  const std::int64_t last =
      static_cast<std::int64_t>(rows.held.size()) - static_cast<std::int64_t>(tap_count);
  std::uint64_t block = rows.block;
  std::uint32_t row = rows.row;
  std::int64_t begin = static_cast<std::int64_t>(block * filter.from) - rows.held_begin;
  const std::uint64_t before = block * filter.to + row;
  const std::uint64_t left = rows.length_max > before ? rows.length_max - before : 0;
  const auto count_max = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBatchSamples));
  std::size_t made = 0;
  for (; made < count_max; ++made) {
    const std::int64_t from = begin + filter.first[row];
    if (from > last) break;
    const double value = dot(rows.taps + row * tap_count, rows.held.data() + from, tap_count);
    to[made] = static_cast<float>(rounds ? to_step_of_int16(value) : value);
    if (++row == filter.to) {
      row = 0;
      ++block;
      begin += filter.from;
    }
  }
  rows.block = block;
  rows.row = row;
  return made;
}

std::size_t make_outputs_plain(const Rows& rows, float* to) {
  return make_outputs(rows, to, PlainDot());
}

#if defined(__x86_64__)

struct AvxDot {
  __attribute__((target("avx"))) double operator()(const float* taps, const double* samples,
                                                   std::size_t count) const noexcept {
    __m256d low = _mm256_setzero_pd();
    __m256d high = _mm256_setzero_pd();
    for (std::size_t i = 0; i < count; i += kLanes) {
      low = _mm256_add_pd(low, _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(taps + i)),
                                             _mm256_loadu_pd(samples + i)));
      high = _mm256_add_pd(high, _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(taps + i + 4)),
                                               _mm256_loadu_pd(samples + i + 4)));
    }
    std::array<double, kLanes> sums;
    _mm256_storeu_pd(sums.data(), low);
    _mm256_storeu_pd(sums.data() + 4, high);
    return sum_of(sums);
  }
};

__attribute__((target("avx"))) std::size_t make_outputs_avx(const Rows& rows, float* to) {
  return make_outputs(rows, to, AvxDot());
}

bool has_avx() {
  return __builtin_cpu_supports("avx") != 0;
}

#else

std::size_t make_outputs_avx(const Rows& rows, float* to) {
  return make_outputs_plain(rows, to);
}
bool has_avx() {
  return false;
}

#endif

}  // namespace

PolyphaseFilter torchaudio_filter(std::uint32_t from_hz, std::uint32_t to_hz) {
  constexpr double kWidth = 6.0;
  constexpr double kRolloff = 0.99;
  PolyphaseFilter filter = without_taps(from_hz, to_hz);
  const double from = filter.from;
  const double to = filter.to;
  const double base = std::min(from, to) * kRolloff;
  const double half_samples = kWidth * from / base;
  const double scale = base / from;
  filter.tap_count = whole_lanes(std::ceil(2.0 * half_samples) + 2.0);
  filter.first.resize(filter.to);
  filter.taps.resize(filter.to * filter.tap_count);
  for (std::uint32_t p = 0; p < filter.to; ++p) {
    // torchaudio divides integers, which gives float32; all that follows is double.
    const double phase = static_cast<double>(static_cast<float>(p) / static_cast<float>(filter.to));
    const double first = std::floor(p * from / to - half_samples);
    filter.first[p] = static_cast<std::int64_t>(first);
    for (std::size_t i = 0; i < filter.tap_count; ++i) {
      double t = ((first + static_cast<double>(i)) / from - phase) * base;
      t = std::clamp(t, -kWidth, kWidth);
      const double window = std::cos(t * pi / kWidth / 2.0);
      filter.taps[p * filter.tap_count + i] =
          static_cast<float>(sinc(t * pi) * (window * window * scale));
    }
  }
  return filter;
}

PolyphaseFilter swresample_filter(std::uint32_t from_hz, std::uint32_t to_hz) {
  constexpr double kTaps = 32.0;
  constexpr double kCutoff = 0.97;
  constexpr std::uint32_t kPhasesMax = 1024;
  PolyphaseFilter filter = without_taps(from_hz, to_hz);
  filter.edge = PolyphaseFilter::Edge::kMirror;
  filter.steps = PolyphaseFilter::Steps::kInt16;
  filter.first.resize(filter.to);
  if (filter.from == filter.to) {
    filter.tap_count = kLanes;
    filter.taps.assign(kLanes, 0.0F);
    filter.taps.front() = 1.0F;
    return filter;
  }
  const double factor = std::min(filter.to * kCutoff / filter.from, 1.0);
  const auto count = (static_cast<std::size_t>(std::ceil(kTaps / factor)) + 1) / 2 * 2;
  filter.row_length = count;
  filter.tap_count = whole_lanes(static_cast<double>(count));
  filter.taps.resize(filter.to * filter.tap_count);
  filter.int16_taps.resize(filter.taps.size());
  // It keeps 1,024 phases at most, and lays straight lines between them.
  const std::uint64_t phase_count = std::min(filter.to, kPhasesMax);
  std::vector<std::vector<double>> phases;
  for (std::uint64_t k = 0; k <= phase_count; ++k)
    phases.push_back(
        swresample_row(static_cast<double>(k) / static_cast<double>(phase_count), factor, count));
  double sum = 0.0;
  for (const double tap : phases.front()) sum += tap;
  // Taps of 16 bits are rounded before the lines are laid.
  const auto int16_tap = [sum](double tap) {
    return std::nearbyint(static_cast<float>(tap / sum) * 32768.0F) / 32768.0F;
  };
  for (std::uint32_t p = 0; p < filter.to; ++p) {
    const std::uint64_t position = std::uint64_t{p} * filter.from;
    filter.first[p] = static_cast<std::int64_t>(position / filter.to) -
                      static_cast<std::int64_t>((count - 1) / 2);
    const std::uint64_t phase = position % filter.to * phase_count;
    const double share = static_cast<double>(phase % filter.to) / filter.to;
    const std::vector<double>& below = phases[phase / filter.to];
    const std::vector<double>& above = phases[phase / filter.to + 1];
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = p * filter.tap_count + i;
      filter.taps[place] = static_cast<float>(std::lerp(below[i], above[i], share) / sum);
      filter.int16_taps[place] =
          static_cast<float>(std::lerp(int16_tap(below[i]), int16_tap(above[i]), share));
    }
  }
  return filter;
}

std::uint64_t length_through(const PolyphaseFilter& filter, std::uint64_t length) {
  if (length == 0 || filter.from == filter.to) return length;
  return filter.edge == PolyphaseFilter::Edge::kZeros ? torchaudio_length(filter, length)
                                                      : swresample_length(filter, length);
}

void PolyphaseResampler::set_filter(PolyphaseFilter filter) {
  filter_ = std::move(filter);
  front_count_ =
      static_cast<std::size_t>(std::max<std::int64_t>(0, -std::ranges::min(filter_.first)));
  looked_at_ = front_count_ + 1;
  if (!filter_.int16_taps.empty()) looked_at_ = std::max(looked_at_, kSamplesToLookAt);
  begin();
}

void PolyphaseResampler::begin() noexcept {
  held_.clear();
  held_begin_ = 0;
  has_front_ = rounds_ = false;
  in_count_ = block_ = 0;
  row_ = 0;
}

void PolyphaseResampler::push(std::span<const float> in, OutputSamples& out) {
  held_.insert(held_.end(), in.begin(), in.end());
  in_count_ += in.size();
  if (rounds_) round(held_.size() - in.size());
  if (!has_front_) {
    if (in_count_ < looked_at_) return;
    add_front();
  }
  make(UINT64_MAX, out);
}

void PolyphaseResampler::round(std::size_t first) {
  for (double& sample : std::span(held_).subspan(first)) sample = to_step_of_int16(sample);
}

std::uint64_t PolyphaseResampler::finish(OutputSamples& out) {
  const std::uint64_t length = length_through(filter_, in_count_);
  if (length == 0) return 0;
  if (!has_front_) add_front();
  const std::uint64_t last = length - 1;
  const std::int64_t end = static_cast<std::int64_t>(last / filter_.to * filter_.from) +
                           filter_.first[last % filter_.to] +
                           static_cast<std::int64_t>(filter_.tap_count);
  for (std::int64_t i = held_begin_ + static_cast<std::int64_t>(held_.size()); i < end; ++i)
    held_.push_back(beyond(i));
  make(length, out);
  return length;
}

// The sample at `index`, which is before or behind the signal. A mirror before it leaves the first
// sample out, and a mirror behind it repeats the last, as in libswresample.
double PolyphaseResampler::beyond(std::int64_t index) const {
  if (filter_.edge == PolyphaseFilter::Edge::kZeros) return 0.0;
  const auto count = static_cast<std::int64_t>(in_count_);
  while (index < 0 || index >= count) index = index < 0 ? -index : 2 * count - 1 - index;
  return held_[static_cast<std::size_t>(index - held_begin_)];
}

// Decides what the signal is, and puts samples before it.
void PolyphaseResampler::add_front() {
  const auto seen = std::span(held_).first(std::min(held_.size(), looked_at_));
  const bool is_int16 = !filter_.int16_taps.empty() && std::ranges::all_of(seen, fits_int16);
  taps_ = is_int16 ? filter_.int16_taps.data() : filter_.taps.data();
  rounds_ = is_int16;
  if (rounds_) round(0);
  std::vector<double> front(front_count_);
  for (std::size_t i = 0; i < front_count_; ++i)
    front[i] = beyond(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(front_count_));
  held_.insert(held_.begin(), front.begin(), front.end());
  held_begin_ = -static_cast<std::int64_t>(front_count_);
  has_front_ = true;
}

// Makes all outputs whose samples are there, up to `length_max` in all.
void PolyphaseResampler::make(std::uint64_t length_max, OutputSamples& out) {
  static const auto make_outputs_best = has_avx() ? make_outputs_avx : make_outputs_plain;
  const Rows rows{filter_, taps_, held_, held_begin_, length_max, block_, row_};
  std::size_t made = 0;
  do {
    made = make_outputs_best(rows, out.room(kBatchSamples));
    out.advance(made);
  } while (made == kBatchSamples);
  const std::int64_t next = static_cast<std::int64_t>(block_ * filter_.from) + filter_.first[row_];
  const auto used =
      std::clamp<std::int64_t>(next - held_begin_, 0, static_cast<std::int64_t>(held_.size()));
  held_.erase(held_.begin(), held_.begin() + used);
  held_begin_ += used;
}

}  // namespace xtts::audio
