// A lost or damaged manifest.json, made again from the copy in the index.
#include "verify/manifest_repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repair_support.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verify::Report;

const std::string kManifest = "manifest.json";

TEST(ManifestRepair, MakesALostOrDamagedOneAgain) {
  const std::string& bytes = whole(kManifest);
  for (const std::string& damaged : {flipped(bytes, 70), flipped(bytes, bytes.size() - 2),
                                     bytes.substr(0, 100), std::string()}) {
    MemoryEnv env;
    add_whole_cache(env);
    env.add_file(kCache + "/" + kManifest, damaged);
    expect_mended(env, repaired(env, repair_options("")), kManifest);
  }
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  expect_mended(env, repaired(env), kManifest);
}

TEST(ManifestRepair, IsTheFirstStepWhereMoreIsLost) {
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  ASSERT_TRUE(env.remove_file(kCache + "/" + shard_names("mel").front()).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(report.repaired.size(), 2U);
  EXPECT_EQ(difference(whole_cache(), files_below(env)), "");
}

// A reader holds the index that an update has replaced.
TEST(ManifestRepair, TakesTheNewestOfTwoIndexes) {
  MemoryEnv env;
  add_whole_cache(env);
  const auto reader = open_cache(env);
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  must_build(env, repair_request());
  ASSERT_EQ(files_named(files_below(env), "index-").size(), 2U);
  const Files before = files_below(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
  EXPECT_EQ(open_cache(env)->manifest().generation, 2U);
}

TEST(ManifestRepair, ALostOneIsToldByWhoeverOpensTheCache) {
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  const auto view = reader::CacheView::open(env, kCache);
  EXPECT_EQ(view.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(view.status().message(), HasSubstr("verify /cache --repair' brings it back"));
}

TEST(ManifestRepair, CannotWithoutAnIndex) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(kCache + "/" + kManifest, flipped(whole(kManifest), 70));
  const std::string index = files_named(whole_cache(), "index-").begin()->first;
  env.add_file(kCache + "/" + index, flipped(whole(index), whole(index).size() - 5));
  const Files damaged = files_below(env);
  const Report report = repaired(env);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.repaired, IsEmpty());
  EXPECT_THAT(told(report), HasSubstr("no index that can be read keeps a copy of it"));
  EXPECT_EQ(difference(damaged, files_below(env)), "");
}

// What a build has not published yet is the build's to finish.
TEST(ManifestRepair, LeavesAnUnfinishedBuildAlone) {
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  env.add_file(kCache + "/.build/journal", "");
  const auto report = verify::verify_cache(env, kCache, repair_options());
  EXPECT_EQ(report.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(report.status().message(), HasSubstr("is incomplete"));
  EXPECT_FALSE(env.exists(kCache + "/" + kManifest));
}

TEST(ManifestRepair, ACopyThatSaysSomethingElseIsFound) {
  MemoryEnv env;
  add_whole_cache(env);
  auto manifest = open_cache(env)->manifest();
  manifest.recipe_name = "another";
  env.add_file(kCache + "/" + kManifest, formats::encode_manifest(manifest).value());
  EXPECT_THAT(damage_in(env), HasSubstr("copy of the manifest"));
}

}  // namespace
}  // namespace xtts::testing
