#include "verify/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "records/columns.hpp"

namespace xtts::verify {
namespace {

class Comparison : public ::testing::Test {
 protected:
  Comparison() {
    stored_.offset_bytes = 4096;
    stored_.facts_offset_bytes = 16;
    set(made_values_, made_);
    set(made_values_, stored_.rows);
    stored_.length = 2;
    facts_.trim_start_samples = stored_.facts.trim_start_samples = 1000;
    facts_.pcm_digest = stored_.facts.pcm_digest = Digest{1, 2};
  }
  static void set(const std::vector<float>& values, std::vector<std::byte>& bytes) {
    const auto raw = std::as_bytes(std::span(values));
    bytes.assign(raw.begin(), raw.end());
  }
  [[nodiscard]] ExpectedRecord expected() const {
    return {.length = length_, .fill_bits = 0, .rows = made_, .facts = facts_};
  }
  [[nodiscard]] std::optional<Difference> within() const {
    return compare_within(tolerance_of(recipe_, mel()), mel(), expected(), stored_, recipe_);
  }
  [[nodiscard]] formats::ColumnSpec mel() const {
    return records::sound_columns(recipe_, {}).front();
  }

  formats::Recipe recipe_;
  std::vector<float> made_values_ = {-11.5F, 0.0F, 1.0F, 2.5F};
  std::vector<std::byte> made_;
  std::uint32_t length_ = 2;
  formats::RecordFacts facts_;
  StoredRecord stored_;
};

TEST_F(Comparison, OfEqualRecordsFindsNothing) {
  EXPECT_FALSE(compare_bits(expected(), stored_, {10, 16}));
  EXPECT_FALSE(within());
}

TEST_F(Comparison, NamesTheFirstByteThatDiffers) {
  stored_.rows[9] ^= std::byte{0x10};
  const auto difference = compare_bits(expected(), stored_, {});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->part, "bytes");
  EXPECT_EQ(difference->offset_bytes, 4096U + 9U);
  EXPECT_EQ(difference->expected.text, "00 80 3f 00 00 20 40");
  EXPECT_EQ(difference->found.text, "10 80 3f 00 00 20 40");
}

TEST_F(Comparison, SeesAFactThatIsMissingOnEitherSide) {
  stored_.facts.gain = 1.5F;
  auto difference = compare_bits(expected(), stored_, {18});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->part, "gain");
  EXPECT_EQ(difference->expected.kind, "not_known");
  EXPECT_EQ(difference->found.text, "1.5");
  EXPECT_EQ(difference->offset_bytes, 16U);
  std::swap(facts_, stored_.facts);
  difference = compare_bits(expected(), stored_, {18});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->found.kind, "not_known");
  EXPECT_FALSE(compare_bits(expected(), stored_, {10}));  // not asked for
}

TEST_F(Comparison, WithinTheToleranceKnowsUnitsAndDtypes) {
  EXPECT_DOUBLE_EQ(tolerance_of(recipe_, mel()).absolute, 2e-5);
  recipe_.features->normalize = {.method = formats::NormalizeMethod::kAffine, .scale = 4.0};
  EXPECT_DOUBLE_EQ(tolerance_of(recipe_, mel()).absolute, 5e-6);
  recipe_.features->normalize = {};
  recipe_.features->log.base = formats::LogBase::kTen;
  EXPECT_DOUBLE_EQ(tolerance_of(recipe_, mel()).absolute, 2e-5 / std::log(10.0));
  recipe_.features->log.base = formats::LogBase::kNone;
  EXPECT_DOUBLE_EQ(tolerance_of(recipe_, mel()).absolute, 0.0);
  EXPECT_GT(tolerance_of(recipe_, mel()).relative, 2e-5);
  recipe_.storage.dtype = DType::kFloat16;
  EXPECT_GT(tolerance_of(recipe_, mel()).relative, 0x1p-10);
}

TEST_F(Comparison, WithinTheToleranceAcceptsWhatRoundingDoes) {
  made_values_[1] += 1e-5F;
  set(made_values_, stored_.rows);
  EXPECT_FALSE(within());
  made_values_[1] += 1e-4F;
  set(made_values_, stored_.rows);
  const auto difference = within();
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->part, "value");
  EXPECT_EQ(difference->offset_bytes, 4096U + 4U);
  EXPECT_FALSE(difference->is_beyond_comparison);
}

TEST_F(Comparison, OfAnotherSoundProvesNothing) {
  made_values_[1] += 1.0F;
  set(made_values_, stored_.rows);
  stored_.facts.pcm_digest = Digest{3, 4};  // another decoder's rounding
  ASSERT_TRUE(within());
  EXPECT_TRUE(within()->is_beyond_comparison);
}

TEST_F(Comparison, MovesNoTrimAndNoLengthByMoreThanAFrame) {
  stored_.facts.trim_start_samples = 1000 + 256;
  EXPECT_FALSE(within());
  stored_.facts.trim_start_samples = 1000 + 257;
  ASSERT_TRUE(within());
  EXPECT_EQ(within()->part, "trim start");
  EXPECT_FALSE(within()->is_beyond_comparison);
  stored_.facts.trim_start_samples = 1000;
  length_ = 3;
  EXPECT_FALSE(within());
  length_ = 4;
  ASSERT_TRUE(within());
  EXPECT_EQ(within()->part, "length");
}

// Two channels. What is 2e-5 apart before it is baked is further apart behind it where the channel
// moves little, and nearer where it moves much.
TEST_F(Comparison, OfABakedCacheIsInUnitsOfWhatWasBaked) {
  recipe_.features->baked = {
      .dtype = DType::kFloat32, .mean = {-5.0, 1.0}, .std_deviation = {0.01, 100.0}};
  const auto differs = [&](std::size_t value, float amount) {
    std::vector<float> changed = made_values_;
    changed[value] += amount;
    set(changed, stored_.rows);
    return within().has_value();
  };
  EXPECT_FALSE(differs(0, 1.9e-3F));
  EXPECT_TRUE(differs(0, 2.3e-3F));
  EXPECT_FALSE(differs(1, 1e-7F));
  EXPECT_TRUE(differs(1, 1e-5F));
  EXPECT_FALSE(differs(2, 1.9e-3F));
  EXPECT_TRUE(differs(3, 1e-5F));
}

}  // namespace
}  // namespace xtts::verify
