// The SIMD kernels against the scalar ones, by memcmp: see kernels.hpp for why they can be.
#include "dsp/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "dsp/aligned_buffer.hpp"
#include "support/sanitized.hpp"
#include "tests/unit/dsp/isa_support.hpp"

namespace xtts::dsp {
namespace {

class Kernel : public EachIsa {
 protected:
  static const Kernels& tested() { return *find_kernels(GetParam()); }
  static const Kernels& reference() { return scalar_kernels(); }

  template <typename T>
  static AlignedBuffer<T> noise(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    AlignedBuffer<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(normal(random));
    return values;
  }

  template <typename T>
  static void expect_same_bits(const AlignedBuffer<T>& a, const AlignedBuffer<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(std::memcmp(&a[i], &b[i], sizeof(T)), 0) << i << ": " << a[i] << ", " << b[i];
    }
  }

  template <typename Real>
  static void compare_windows(const FrameKernels<Real>& ours, const FrameKernels<Real>& scalar) {
    for (const std::size_t count : {2U, 15U, 16U, 50U, 1024U}) {
      const AlignedBuffer<float> samples = noise<float>(count + 3, 1);
      const AlignedBuffer<Real> window = noise<Real>(count, 2);
      AlignedBuffer<Real> a(count);
      AlignedBuffer<Real> b(count);
      for (const std::size_t misaligned_by : {0U, 1U, 3U}) {
        ours.apply_window(samples.data() + misaligned_by, window.data(), a.data(), count);
        scalar.apply_window(samples.data() + misaligned_by, window.data(), b.data(), count);
        expect_same_bits(a, b);
      }
    }
  }

  // The table as spectrum.cpp lays it out: natural order within the kernel's lane order, tail
  // natural.
  template <typename Real>
  static AlignedBuffer<Real> in_order_of(const FrameKernels<Real>& kernels,
                                         const AlignedBuffer<Real>& natural) {
    AlignedBuffer<Real> table(natural.size());
    const std::size_t in_groups = natural.size() - natural.size() % kernels.lanes;
    for (std::size_t i = 0; i < natural.size(); ++i) {
      const std::size_t lane = i % kernels.lanes;
      table[i] = natural[i < in_groups ? i - lane + kernels.lane_order[lane] : i];
    }
    return table;
  }

  template <typename Real>
  static void compare_spectra(const FrameKernels<Real>& ours, const FrameKernels<Real>& scalar) {
    for (const std::size_t half : {2U, 7U, 8U, 9U, 33U, 64U, 200U, 512U, 960U}) {
      const AlignedBuffer<Real> transform = noise<Real>(2 * half, 3);
      const AlignedBuffer<Real> sines = noise<Real>(half / 2, 4);
      const AlignedBuffer<Real> cosines = noise<Real>(half / 2, 5);
      const AlignedBuffer<Real> our_sines = in_order_of(ours, sines);
      const AlignedBuffer<Real> our_cosines = in_order_of(ours, cosines);
      for (const SpectrumOp op :
           {SpectrumOp::kPower, SpectrumOp::kMagnitude, SpectrumOp::kRootPlus}) {
        AlignedBuffer<float> a(half + 1);
        AlignedBuffer<float> b(half + 1);
        ours.spectrum(transform.data(), {half, our_sines.data(), our_cosines.data()}, op, 1e-3F,
                      a.data());
        scalar.spectrum(transform.data(), {half, sines.data(), cosines.data()}, op, 1e-3F,
                        b.data());
        expect_same_bits(a, b);
      }
    }
  }
};

TEST_P(Kernel, WindowsAsTheScalarOneDoes) {
  compare_windows(tested().in_double, reference().in_double);
  compare_windows(tested().in_float, reference().in_float);
}

TEST_P(Kernel, UnpacksSpectraAsTheScalarOneDoes) {
  compare_spectra(tested().in_double, reference().in_double);
  compare_spectra(tested().in_float, reference().in_float);
}

TEST_P(Kernel, SumsBandsAsTheScalarOneDoes) {
  constexpr std::size_t kStride = 520;
  const AlignedBuffer<float> rows = noise<float>(kBlockFrames * kStride, 6);
  const AlignedBuffer<float> weights = noise<float>(1000, 7);
  const std::vector<std::uint32_t> first_bins = {0, 5, 17, 100, 511, 12};
  const std::vector<std::uint32_t> bin_counts = {1, 2, 0, 413, 2, 3};
  const MelSpans spans{first_bins.data(), bin_counts.data(), weights.data(), first_bins.size(),
                       520};
  AlignedBuffer<float> scratch(kBlockFrames * kStride);
  AlignedBuffer<float> a(kBlockFrames * first_bins.size());
  AlignedBuffer<float> b(kBlockFrames * first_bins.size());
  tested().block.mel(rows.data(), kStride, spans, scratch.data(), a.data());
  reference().block.mel(rows.data(), kStride, spans, scratch.data(), b.data());
  expect_same_bits(a, b);
}

TEST_P(Kernel, TransposesAsTheScalarOneDoes) {
  const AlignedBuffer<float> bands = noise<float>(kBlockFrames * 88, 8);
  AlignedBuffer<float> a(bands.size());
  AlignedBuffer<float> b(bands.size());
  tested().block.to_frames(bands.data(), 88, a.data());
  reference().block.to_frames(bands.data(), 88, b.data());
  expect_same_bits(a, b);
}

TEST_P(Kernel, CompressesAsTheScalarOneDoes) {
  AlignedBuffer<float> values(16000);
  std::mt19937 random(9);
  std::uniform_real_distribution<float> exponent(-40.0F, 38.0F);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::pow(10.0F, exponent(random));
  values[0] = 0.0F;
  values[1] = std::numeric_limits<float>::infinity();
  values[2] = std::numeric_limits<float>::max();
  const Compression settings[] = {
      {},
      {.floor_mode = Compression::Floor::kAdd, .floor = 1e-6F},
      {.floor = 1e-10F,
       .log_scale = 0.43429448F,
       .has_affine = true,
       .offset = -4.0F,
       .scale = 4.0F},
      {.has_log = false, .has_affine = true, .offset = 0.3F, .scale = 7.0F},
  };
  for (const Compression& how : settings) {
    AlignedBuffer<float> a(values.size());
    AlignedBuffer<float> b(values.size());
    std::memcpy(a.data(), values.data(), values.size() * sizeof(float));
    std::memcpy(b.data(), values.data(), values.size() * sizeof(float));
    tested().block.compress(how, a.data(), a.size());
    reference().block.compress(how, b.data(), b.size());
    expect_same_bits(a, b);
  }
}

// Every 61st normal float: 35 million; under a sanitizer a hundredth of them. Against log in
// double.
TEST_P(Kernel, TakesLogarithmsToBetterThanOneUlp) {
  constexpr std::uint32_t kSmallest = 0x00800000;
  constexpr std::uint32_t kPastLargest = 0x7f800000;
  constexpr std::uint32_t kStep = 61U * 4096U * (testing::kIsSanitized ? 100U : 1U);
  AlignedBuffer<float> values(4096);
  AlignedBuffer<float> logs(4096);
  double worst_ulp = 0.0;
  for (std::uint32_t bits = kSmallest; bits < kPastLargest - 61U * 4096U; bits += kStep) {
    for (std::uint32_t i = 0; i < 4096; ++i) {
      const std::uint32_t at = bits + 61U * i;
      std::memcpy(&values[i], &at, sizeof at);
    }
    std::memcpy(logs.data(), values.data(), 4096 * sizeof(float));
    tested().block.compress({.floor = std::numeric_limits<float>::min()}, logs.data(), logs.size());
    for (std::size_t i = 0; i < 4096; ++i) {
      const double truth = std::log(static_cast<double>(values[i]));
      const float rounded = std::abs(static_cast<float>(truth));
      const double ulp =
          static_cast<double>(std::nextafter(rounded, 1e30F)) - static_cast<double>(rounded);
      worst_ulp = std::max(worst_ulp, std::abs(static_cast<double>(logs[i]) - truth) / ulp);
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst_ulp));
  EXPECT_LT(worst_ulp, 1.0);
}

TEST_P(Kernel, KeepsNotANumberVisible) {
  AlignedBuffer<float> values(16);
  for (std::size_t i = 0; i < 16; ++i) values[i] = std::numeric_limits<float>::quiet_NaN();
  tested().block.compress({}, values.data(), values.size());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(EachIsa, Kernel, ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         isa_name);

TEST(Kernels, AreThereForTheProcessorsBest) {
  EXPECT_NE(find_kernels(Isa::kScalar), nullptr);
  EXPECT_EQ(find_kernels(Isa::kBest), find_kernels(best_isa()));
  EXPECT_NE(find_kernels(Isa::kBest), nullptr);
  EXPECT_EQ(find_kernels(Isa::kAvx512) != nullptr, best_isa() == Isa::kAvx512);
}

}  // namespace
}  // namespace xtts::dsp
