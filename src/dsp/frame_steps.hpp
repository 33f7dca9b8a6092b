// The arithmetic of a frame outside of the SIMD kernels: which samples it has, Kaldi's steps before
// the window, and its energy. CUDA's compiler builds it for the GPU, too. kernels_common.hpp has
// the rest.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"

namespace xtts::dsp {

// Where the samples of a clip lie among zeros and mirrors. Plain numbers, so that a GPU takes them.
struct ClipShape {
  enum class Beyond : std::uint32_t {
    kZeros,
    kMirror,
    kMirrorTwice
  };                              // kMirrorTwice: the edge, too
  std::int64_t sample_count = 0;  // of the clip
  std::int64_t framed_count = 0;  // with the zeros around it
  std::int64_t front_zeros = 0;
  Beyond beyond = Beyond::kZeros;
};

// The position to which the mirrors at both ends of `count` samples lead. A mirror lies at the edge
// sample, or behind it.
XTTS_ON_BOTH inline std::int64_t mirrored(std::int64_t position, std::int64_t count,
                                          bool shows_edges_twice) {
  if (count == 1) return 0;
  const std::int64_t period = shows_edges_twice ? 2 * count : 2 * (count - 1);
  position %= period;
  if (position < 0) position += period;
  if (position < count) return position;
  return period - position - (shows_edges_twice ? 1 : 0);
}

// The sample at `position` of the framed clip.
XTTS_ON_BOTH inline float sample_at(const ClipShape& shape, const float* clip,
                                    std::int64_t position) {
  if (position < 0 || position >= shape.framed_count) {
    if (shape.beyond == ClipShape::Beyond::kZeros) return 0.0F;
    position =
        mirrored(position, shape.framed_count, shape.beyond == ClipShape::Beyond::kMirrorTwice);
  }
  position -= shape.front_zeros;
  const bool is_inside = position >= 0 && position < shape.sample_count;
  return is_inside ? clip[position] : 0.0F;
}

// The mean of `count` samples, `get(i)` each. Four sums: with one, each sample would wait for the
// one before.
template <typename Real, typename Get>
XTTS_ON_BOTH inline Real mean_of(std::size_t count, const Get& get) {
  Real first{0};
  Real second{0};
  Real third{0};
  Real fourth{0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    first += static_cast<Real>(get(i));
    second += static_cast<Real>(get(i + 1));
    third += static_cast<Real>(get(i + 2));
    fourth += static_cast<Real>(get(i + 3));
  }
  if (i < count) first += static_cast<Real>(get(i));
  if (i + 1 < count) second += static_cast<Real>(get(i + 1));
  if (i + 2 < count) third += static_cast<Real>(get(i + 2));
  return ((first + second) + (third + fourth)) / static_cast<Real>(count);
}

// Pre-emphasis and the window. `x` and `before` are less the mean; the first sample of a window is
// its own predecessor.
template <typename Real>
XTTS_ON_BOTH inline Real emphasized(Real x, Real before, Real factor, Real window) {
  return (x - factor * before) * window;
}

// The L2 norm of the magnitudes of a frame.
XTTS_ON_BOTH inline float energy_of(const float* row, std::size_t bin_count, bool is_power) {
  double sum = 0.0;
  for (std::size_t bin = 0; bin < bin_count; ++bin) {
    const auto value = static_cast<double>(row[bin]);
    sum += is_power ? value : value * value;
  }
  return static_cast<float>(sqrt(sum));
}

}  // namespace xtts::dsp
