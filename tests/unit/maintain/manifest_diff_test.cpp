#include "maintain/manifest_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/canonical_json.hpp"
#include "support/test_cache.hpp"

namespace xtts::maintain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

formats::Manifest manifest() {
  return testing::make_test_cache().manifest;
}

TEST(ManifestDifference, IsNoneOfTheSame) {
  const auto difference = compare_manifests(manifest(), manifest());
  EXPECT_THAT(difference.recipe, IsEmpty());
  EXPECT_THAT(difference.numerics, IsEmpty());
  EXPECT_THAT(difference.columns, IsEmpty());
  EXPECT_THAT(difference.comparable_columns, ElementsAre("mel", "tokens"));
  EXPECT_TRUE(difference.all_comparable);
}

TEST(ManifestDifference, NamesKeysOfEachSectionOfTheRecipe) {
  formats::Manifest other = manifest();
  other.recipe_name = "ours";
  other.features["max_frames"] = 1024;
  other.features.erase("pad_value");
  other.text["max_tokens"] = 100;
  other.corpus["split_seed"] = 7;
  other.storage["layout"] = "packed";
  EXPECT_THAT(
      compare_manifests(manifest(), other).recipe,
      ElementsAre(
          "name: \"myxtts\" in A, \"ours\" in B", "features.max_frames: 800 in A, 1024 in B",
          "features.pad_value: 0.0 in A, absent in B", "text.max_tokens: 200 in A, 100 in B",
          "corpus.split_seed: 0 in A, 7 in B", "storage.layout: \"padded\" in A, \"packed\" in B"));
}

TEST(ManifestDifference, NamesTheMachine) {
  formats::Manifest other = manifest();
  other.numerics.isa = "avx512";
  EXPECT_THAT(compare_manifests(manifest(), other).numerics,
              ElementsAre("isa: \"scalar\" in A, \"avx512\" in B"));
}

TEST(ManifestDifference, OfColumnsSaysWhichCanBeCompared) {
  formats::Manifest other = manifest();
  other.columns[0].spec.dtype = DType::kFloat16;
  other.columns[0].spec.shape[0] = 99;  // how long a record may be
  other.columns.pop_back();
  const auto difference = compare_manifests(manifest(), other);
  EXPECT_THAT(difference.columns,
              ElementsAre("mel.dtype: \"float32\" in A, \"float16\" in B",
                          "mel.shape: [24,5] in A, [99,5] in B", "tokens: only in A"));
  EXPECT_THAT(difference.comparable_columns, ElementsAre("mel"));
  EXPECT_FALSE(difference.all_comparable);
  EXPECT_THAT(compare_manifests(other, manifest()).columns,
              ::testing::Contains("tokens: only in B"));
}

TEST(ManifestDifference, RefusesToCompareOtherRowsAndOtherKindsOfNumbers) {
  formats::Manifest channels = manifest();
  channels.columns[0].spec.shape[1] = 6;
  formats::Manifest integers = manifest();
  integers.columns[0].spec.dtype = DType::kInt32;
  for (const auto& other : {channels, integers}) {
    const auto difference = compare_manifests(manifest(), other);
    EXPECT_THAT(difference.comparable_columns, ElementsAre("tokens"));
    EXPECT_THAT(difference.columns, ::testing::Contains("mel: its numbers cannot be compared"));
    EXPECT_FALSE(difference.all_comparable);
  }
}

}  // namespace
}  // namespace xtts::maintain
