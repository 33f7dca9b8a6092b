// Tests of values that a batch's dtype cannot hold, on the CPU and on devices of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/convert_floats.hpp"
#include "made_cache.hpp"
#include "support/device_under_test.hpp"

namespace xtts {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t kClips = 12;
constexpr std::uint32_t kOdd = 5;  // this clip has the large values

struct Narrowing {
  std::string name;
  DType from;
  DType to;
  float value;  // as stored
  float largest;
  std::string advice;
  double deviation = 0.0;  // 0: not normalized
  std::string told = {};   // the value in the message; empty: `value`
};

std::vector<float> floats_of(std::span<const std::byte> bytes, DType dtype) {
  std::vector<float> numbers(bytes.size() / size_bytes(dtype));
  widen_floats(bytes, dtype, numbers);
  return numbers;
}

class RangeOn : public ::testing::TestWithParam<std::tuple<testing::DeviceChoice, Narrowing>> {
 protected:
  RangeOn() : device_(std::get<0>(GetParam())), narrowing_(std::get<1>(GetParam())) {}

  [[nodiscard]] testing::TestCacheOptions cache_options() const {
    testing::TestCacheOptions made{
        .clip_count = kClips, .mel_dtype = narrowing_.from, .clips_per_block = 4};
    made.edit_clip = [number = 0U, value = narrowing_.value](testing::TestClip& clip) mutable {
      if (number++ != kOdd) return;
      clip.mel[2] = value;
      clip.mel[4] = -value;
      clip.mel[7] = kInfinity;
      clip.mel[9] = std::numeric_limits<float>::quiet_NaN();
    };
    return made;
  }
  [[nodiscard]] ReaderOptions options() const {
    ColumnRequest mel{.name = "mel", .dtype = narrowing_.to};
    if (narrowing_.deviation > 0.0) {
      mel.normalize = Normalize::kGiven;
      mel.means.assign(5, 0.0);
      mel.deviations.assign(5, narrowing_.deviation);
    }
    return {.batch_size = 3,
            .shuffle = Shuffle::kNone,
            .columns = {mel},
            .on_damage = OnDamage::kSkip,
            .device = device_.name()};
  }

  testing::DeviceUnderTest device_;
  Narrowing narrowing_;
};

TEST_P(RangeOn, ABatchIsRefusedBeforeItIsHandedOut) {
  const MadeCache cache(cache_options());
  Reader reader = open_reader(cache.open(), options());
  std::size_t batch_count = 0;
  for (std::uint32_t first = 0; first < kClips; first += 3) {
    const auto batch = reader.next();
    if (first != 3) {
      ASSERT_TRUE(batch.ok()) << batch.status().message();
      EXPECT_EQ((*batch)->positions().front(), first);
      ++batch_count;
      continue;
    }
    ASSERT_FALSE(batch.ok());
    EXPECT_EQ(batch.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(batch.status().message(),
                AllOf(HasSubstr("column 'mel' of clip clip-105"),
                      HasSubstr(narrowing_.told + ", which " +
                                std::string(to_string(narrowing_.to)) + " cannot hold"),
                      HasSubstr("as " + narrowing_.advice + ", or set on_range to clip")));
  }
  EXPECT_EQ(batch_count, 3U);
  EXPECT_EQ(reader.stats().saturated_count, 0U);
  EXPECT_EQ(reader.stats().left_out_count, 0U) << "no policy for damage hides it";
}

TEST_P(RangeOn, ClipGivesTheLargestAndCounts) {
  const MadeCache cache(cache_options());
  ReaderOptions clipping = options();
  clipping.on_range = OnRange::kClip;
  Reader reader = open_reader(cache.open(), clipping);
  for (std::uint32_t first = 0; first < kClips; first += 3) {
    const auto batch = reader.next();
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    ASSERT_TRUE((*batch)->wait().ok());
    const BatchColumn& mel = *(*batch)->find("mel");
    const auto numbers = floats_of(device_.read(mel.bytes), mel.dtype);
    const std::size_t odd = first == 3 ? (kOdd - first) * numbers.size() / 3 : numbers.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i != odd + 7 && i != odd + 9) ASSERT_TRUE(std::isfinite(numbers[i])) << i;
    }
    if (first != 3) continue;
    EXPECT_EQ(numbers[odd + 2], narrowing_.largest);
    EXPECT_EQ(numbers[odd + 4], -narrowing_.largest);
    EXPECT_EQ(numbers[odd + 7], kInfinity) << "as stored";
    EXPECT_TRUE(std::isnan(numbers[odd + 9])) << "as stored";
  }
  EXPECT_EQ(reader.stats().saturated_count, 2U);
}

constexpr float kLargestHalf = 65504.0F;
constexpr float kLargestBFloat = 0x1.FEp127F;

INSTANTIATE_TEST_SUITE_P(
    Narrowings, RangeOn,
    ::testing::Combine(
        testing::all_devices(),
        ::testing::Values(
            Narrowing{"float32ToFloat16", DType::kFloat32, DType::kFloat16, 70000.5F, kLargestHalf,
                      "bfloat16 or float32", 0.0, "holds 70000.5"},
            Narrowing{"float32OfAllToFloat16", DType::kFloat32, DType::kFloat16, 0x1.FFFFFEp127F,
                      kLargestHalf, "float32", 0.0, "holds 3.4028235e+38"},
            Narrowing{"float32ToBFloat16", DType::kFloat32, DType::kBFloat16, 0x1.FFFFFEp127F,
                      kLargestBFloat, "float32", 0.0, "holds 3.4028235e+38"},
            Narrowing{"bfloat16ToFloat16", DType::kBFloat16, DType::kFloat16, 131072.0F,
                      kLargestHalf, "bfloat16 or float32", 0.0, "holds 131072"},
            Narrowing{"float16Normalized", DType::kFloat16, DType::kFloat16, 4096.0F, kLargestHalf,
                      "bfloat16 or float32", 0.03125, "normalized, has 131072"},
            Narrowing{"float32Normalized", DType::kFloat32, DType::kFloat16, 4096.0F, kLargestHalf,
                      "bfloat16 or float32", 0.03125, "normalized, has 131072"})),
    [](const auto& instance) {
      return std::get<1>(instance.param).name + testing::name_of(std::get<0>(instance.param));
    });

TEST(Range, OfPaddingIsAskedToo) {
  const MadeCache cache({.clip_count = 4, .mel_fill = -1e6F});
  const ReaderOptions half{.batch_size = 4,
                           .shuffle = Shuffle::kNone,
                           .columns = {{.name = "mel", .dtype = DType::kFloat16}}};
  Reader reader = open_reader(cache.open(), half);
  EXPECT_THAT(reader.next().status().message(),
              AllOf(HasSubstr("clip-100"), HasSubstr("holds -1e+06, which float16 cannot hold")));
  ReaderOptions padded = half;
  padded.columns[0].pad_value = -11.5;
  EXPECT_TRUE(open_reader(cache.open(), padded).next().ok());
  ReaderOptions clipping = half;
  clipping.on_range = OnRange::kClip;
  Reader clipped = open_reader(cache.open(), clipping);
  const auto batch = clipped.next();
  ASSERT_TRUE(batch.ok());
  const BatchColumn& mel = *(*batch)->find("mel");
  EXPECT_EQ(floats_of(mel.bytes, mel.dtype).back(), -kLargestHalf);
  std::uint64_t padding = 4 * 24 * 5;
  for (const auto& clip : cache.made().clips) padding -= clip.mel.size();
  EXPECT_EQ(clipped.stats().saturated_count, padding);
}

// A number that rounds to the largest one fits.
TEST(Range, EndsWhereRoundingDoes) {
  for (const auto& [value, fits] : {std::pair(65519.99F, true), std::pair(65520.0F, false)}) {
    testing::TestCacheOptions options{.clip_count = 1};
    options.edit_clip = [value](testing::TestClip& clip) { clip.mel[0] = value; };
    const MadeCache cache(options);
    Reader reader = open_reader(
        cache.open(), {.batch_size = 1, .columns = {{.name = "mel", .dtype = DType::kFloat16}}});
    EXPECT_EQ(reader.next().ok(), fits) << value;
  }
}

}  // namespace
}  // namespace xtts
