#include "dsp/fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace xtts::dsp {
namespace {

template <typename Real>
class ComplexFftOf : public ::testing::Test {
 protected:
  static constexpr double kTolerance = std::is_same_v<Real, double> ? 1e-12 : 1e-4;
};
using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(ComplexFftOf, Reals);

TYPED_TEST(ComplexFftOf, TurnsAnImpulseIntoAConstant) {
  for (const FftCodelets codelets : {FftCodelets::kFastest, FftCodelets::kPortable}) {
    Result<ComplexFft<TypeParam>> fft = ComplexFft<TypeParam>::create(200, codelets);
    ASSERT_TRUE(fft.ok());
    fft->input()[0] = 1;
    fft->execute();
    for (std::size_t k = 0; k < 200; ++k) {
      EXPECT_NEAR(fft->output()[2 * k], 1.0, this->kTolerance);
      EXPECT_NEAR(fft->output()[2 * k + 1], 0.0, this->kTolerance);
    }
  }
}

// exp(+2 pi i 5 n / N) lands in bin 5 with N: the sign and the missing scale of the forward
// transform.
TYPED_TEST(ComplexFftOf, FindsAComplexToneInItsBin) {
  constexpr std::size_t kSize = 512;
  Result<ComplexFft<TypeParam>> fft = ComplexFft<TypeParam>::create(kSize, FftCodelets::kFastest);
  ASSERT_TRUE(fft.ok());
  for (std::size_t n = 0; n < kSize; ++n) {
    const double phase = 2.0 * std::numbers::pi * 5.0 * static_cast<double>(n) / kSize;
    fft->input()[2 * n] = static_cast<TypeParam>(std::cos(phase));
    fft->input()[2 * n + 1] = static_cast<TypeParam>(std::sin(phase));
  }
  fft->execute();
  for (std::size_t k = 0; k < kSize; ++k) {
    EXPECT_NEAR(fft->output()[2 * k], k == 5 ? 512.0 : 0.0, 512 * this->kTolerance) << k;
    EXPECT_NEAR(fft->output()[2 * k + 1], 0.0, 512 * this->kTolerance) << k;
  }
}

TYPED_TEST(ComplexFftOf, KeepsEnergyAsParsevalSays) {
  constexpr std::size_t kSize = 960;
  Result<ComplexFft<TypeParam>> fft = ComplexFft<TypeParam>::create(kSize, FftCodelets::kFastest);
  ASSERT_TRUE(fft.ok());
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  double before = 0.0;
  for (std::size_t i = 0; i < 2 * kSize; ++i) {
    fft->input()[i] = static_cast<TypeParam>(normal(random));
    before += static_cast<double>(fft->input()[i]) * static_cast<double>(fft->input()[i]);
  }
  fft->execute();
  double after = 0.0;
  for (std::size_t i = 0; i < 2 * kSize; ++i) {
    after += static_cast<double>(fft->output()[i]) * static_cast<double>(fft->output()[i]);
  }
  EXPECT_NEAR(after / (before * kSize), 1.0, this->kTolerance);
}

}  // namespace
}  // namespace xtts::dsp
