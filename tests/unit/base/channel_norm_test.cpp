#include "base/channel_norm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/convert_floats.hpp"
#include "base/half.hpp"

namespace xtts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ChannelNorm norm_of(const std::vector<double>& means, const std::vector<double>& deviations) {
  auto norm = ChannelNorm::create(means, deviations);
  EXPECT_TRUE(norm.ok()) << norm.status().message();
  return std::move(*norm);
}

// `count` channels that no two of are alike.
ChannelNorm random_norm(std::size_t count, std::mt19937& random) {
  std::vector<double> means(count);
  std::vector<double> deviations(count);
  for (double& mean : means) mean = std::uniform_real_distribution<double>(-12, 3)(random);
  for (double& one : deviations) one = std::uniform_real_distribution<double>(0.01, 4)(random);
  return norm_of(means, deviations);
}

std::vector<float> random_floats(std::size_t count, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) value = std::normal_distribution<float>(-5.0F, 4.0F)(random);
  return values;
}

TEST(ChannelNorm, TakesTheMeanAwayAndDividesByTheDeviation) {
  const ChannelNorm norm = norm_of({1.0, -2.0}, {2.0, 0.5});
  const std::vector<float> in = {3.0F, -1.0F, 1.0F, -2.0F, 0.0F, 0.0F};
  std::vector<float> out(in.size());
  norm.apply(in, out);
  EXPECT_THAT(out, ElementsAre(1.0F, 2.0F, 0.0F, 0.0F, -0.5F, 4.0F));
}

TEST(ChannelNorm, MakesZerosOfAChannelThatNeverMoves) {
  const double silence = static_cast<double>(std::log(1e-5F));
  const ChannelNorm norm = norm_of({silence}, {0.0});
  const std::vector<float> in = {static_cast<float>(silence), static_cast<float>(silence) + 1.0F};
  std::vector<float> out(2);
  norm.apply(in, out);
  EXPECT_EQ(out[0], 0.0F);
  EXPECT_NEAR(out[1], 1e5F, 1.0F);  // the divisor has a floor
}

// Every number of channels up to more than two registers' worth, from every channel on.
TEST(ChannelNorm, IsTheSameInEveryBitOnEveryPath) {
  std::mt19937 random(7);
  for (std::size_t channels = 1; channels <= 35; ++channels) {
    const ChannelNorm norm = random_norm(channels, random);
    const std::vector<float> in = random_floats(3 * channels + 5, random);
    for (std::size_t first = 0; first < channels; ++first) {
      std::vector<float> best(in.size());
      std::vector<float> scalar(in.size());
      norm.apply(in, best, first);
      norm.apply(in, scalar, first, NormPath::kScalar);
      for (std::size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(best[i]), std::bit_cast<std::uint32_t>(scalar[i]))
            << channels << " channels from " << first << ", value " << i;
      }
    }
  }
}

TEST(ChannelNorm, GoesOnWhereverARowWasCut) {
  std::mt19937 random(8);
  const ChannelNorm norm = random_norm(80, random);
  const std::vector<float> in = random_floats(7 * 80, random);
  std::vector<float> whole(in.size());
  norm.apply(in, whole);
  std::vector<float> parts = in;
  for (std::size_t done = 0; done < in.size();) {
    const std::size_t now = std::min<std::size_t>(1 + random() % 200, in.size() - done);
    const std::span<float> part = std::span(parts).subspan(done, now);
    norm.apply(part, part, done % 80);  // in place
    done += now;
  }
  EXPECT_EQ(parts, whole);
}

TEST(ChannelNorm, RoundsHalfFloatsOnceAtItsEnd) {
  std::mt19937 random(9);
  const ChannelNorm norm = random_norm(80, random);
  const std::vector<float> exact = random_floats(31 * 80, random);
  for (const DType from : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    std::vector<std::byte> in(exact.size() * size_bytes(from));
    std::vector<float> stored = exact;
    if (from == DType::kFloat32) {
      std::ranges::copy(std::as_bytes(std::span(exact)), in.begin());
    } else {
      narrow_floats(exact, from, in);
      widen_floats(in, from, stored);
    }
    std::vector<float> expected(stored.size());
    norm.apply(stored, expected, 3);
    for (const DType to : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      std::vector<std::byte> out(exact.size() * size_bytes(to));
      norm.apply(in, from, out, to, 3);
      std::vector<std::byte> wanted(out.size());
      if (to == DType::kFloat32) {
        std::ranges::copy(std::as_bytes(std::span(expected)), wanted.begin());
      } else {
        narrow_floats(expected, to, wanted);
      }
      EXPECT_EQ(out, wanted) << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(ChannelNorm, RefusesNumbersThatAreNone) {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto refused = [](const std::vector<double>& means, const std::vector<double>& deviations) {
    const auto norm = ChannelNorm::create(means, deviations);
    EXPECT_EQ(norm.status().code(), StatusCode::kInvalidArgument);
    return norm.status().message();
  };
  EXPECT_THAT(refused({}, {}), HasSubstr("0 means"));
  EXPECT_THAT(refused({1, 2}, {1}), HasSubstr("2 means and 1 deviations"));
  EXPECT_THAT(refused({0, infinite}, {1, 1}), HasSubstr("mean of channel 1"));
  EXPECT_THAT(refused({0, 1e39}, {1, 1}), HasSubstr("mean of channel 1"));
  EXPECT_THAT(refused({0}, {-0.5}), HasSubstr("deviation of channel 0"));
  EXPECT_THAT(refused({0}, {std::nan("")}), HasSubstr("deviation of channel 0"));
}

}  // namespace
}  // namespace xtts
