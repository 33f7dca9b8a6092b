#include "dsp/window.hpp"
#include "formats/frame_config.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

namespace xtts::dsp {
namespace {

TEST(Window, PeriodicHannSumsToHalfItsLength) {
  const std::vector<double> window = make_window({.n_fft = 1024, .win_samples = 1024});
  EXPECT_NEAR(std::accumulate(window.begin(), window.end(), 0.0), 512.0, 1e-9);
  EXPECT_EQ(window[0], 0.0);
  EXPECT_EQ(window[512], 1.0);
}

// Four periodic Hann windows a quarter apart add up to a constant: what makes the STFT invertible
// at this hop.
TEST(Window, PeriodicHannOverlapsToAConstant) {
  const std::vector<double> window = make_window({.n_fft = 1024, .win_samples = 1024});
  for (std::size_t n = 0; n < 256; ++n) {
    EXPECT_NEAR(window[n] + window[n + 256] + window[n + 512] + window[n + 768], 2.0, 1e-14);
  }
}

TEST(Window, SymmetricHannMirrors) {
  const std::vector<double> window = make_window(
      {.n_fft = 400, .win_samples = 400, .symmetry = formats::WindowSymmetry::kSymmetric});
  for (std::size_t n = 0; n < 400; ++n) EXPECT_NEAR(window[n], window[399 - n], 1e-15);
  EXPECT_NEAR(window[399], 0.0, 1e-15);
}

TEST(Window, HammingIsAPedestalUnderHann) {
  const formats::StftConfig hann{.n_fft = 400, .win_samples = 400};
  formats::StftConfig hamming = hann;
  hamming.window = formats::WindowKind::kHamming;
  const std::vector<double> a = make_window(hann);
  const std::vector<double> b = make_window(hamming);
  for (std::size_t n = 0; n < 400; ++n) EXPECT_NEAR(b[n], 0.08 + 0.92 * a[n], 1e-15);
}

// Kaldi puts its window at the front of the transform, and its Povey window is symmetric whatever
// is asked for.
TEST(Window, PoveyIsAPowerOfTheSymmetricHann) {
  const std::vector<double> window = make_window({.n_fft = 512,
                                                  .win_samples = 400,
                                                  .window = formats::WindowKind::kPovey,
                                                  .symmetry = formats::WindowSymmetry::kPeriodic,
                                                  .framing = formats::Framing::kSnipEdges});
  EXPECT_EQ(window[0], 0.0);
  for (std::size_t n = 0; n < 400; ++n) EXPECT_NEAR(window[n], window[399 - n], 1e-14);
  const double hann = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * 100.0 / 399.0);
  EXPECT_NEAR(window[100], std::pow(hann, 0.85), 1e-15);
  for (std::size_t n = 400; n < 512; ++n) EXPECT_EQ(window[n], 0.0);
}

TEST(Window, LiesInTheMiddleOfALongerTransform) {
  const std::vector<double> window = make_window({.n_fft = 2048, .win_samples = 1200});
  for (std::size_t n = 0; n < 424; ++n) EXPECT_EQ(window[n], 0.0);
  EXPECT_EQ(window[424 + 600], 1.0);
  for (std::size_t n = 424 + 1200; n < 2048; ++n) EXPECT_EQ(window[n], 0.0);
}

}  // namespace
}  // namespace xtts::dsp
