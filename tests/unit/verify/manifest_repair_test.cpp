// A lost or damaged manifest.json, made again from the copy in the index.
#include "verify/manifest_repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repair_support.hpp"
#include "store/journal_line.hpp"
#include "store/ownership.hpp"

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
    expect_repaired(env, repaired(env, repair_options("")), kManifest);
  }
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  expect_repaired(env, repaired(env), kManifest);
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

// A reader holds the index of an update, and the cache was built anew since.
TEST(ManifestRepair, IsOfTheGenerationThatOverwroteTheOthers) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  must_build(env, repair_request());
  const auto reader = open_cache(env);
  env.add_file(sound_path(1, kData + "/wavs"), sound(9));
  auto anew = repair_request();
  anew.options.overwrite = true;
  must_build(env, anew);
  ASSERT_EQ(files_named(files_below(env), "index-").size(), 2U);
  const Files before = files_below(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

// The newest index is lost with the manifest; a reader holds an older one.
TEST(ManifestRepair, AsksWhereTheNewestIsNotProved) {
  MemoryEnv env;
  add_whole_cache(env);
  const auto reader = open_cache(env);
  const std::string older = files_named(files_below(env), "index-").begin()->first;
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  must_build(env, repair_request());
  for (const auto& [name, bytes] : files_named(files_below(env), "index-")) {
    if (name == older) continue;
    ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
  }
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  for (const bool has_sources : {true, false}) {
    if (!has_sources) {
      ASSERT_TRUE(env.remove_file(kCache + "/sources.bin").ok());
    }
    const Files damaged = files_below(env);
    const Report report = repaired(env);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.repaired, IsEmpty());
    EXPECT_THAT(told(report), HasSubstr("cannot be proved"));
    EXPECT_THAT(told(report), HasSubstr(has_sources ? "sources.bin names index-"
                                                    : "is of generation 2, whose index is lost"));
    EXPECT_THAT(told(report), HasSubstr(older + " (generation 1, 9 clips, "));
    EXPECT_EQ(difference(damaged, files_below(env)), "");
  }
  auto options = repair_options();
  options.index = older;
  const Report report = repaired(env, options);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(open_cache(env)->manifest().generation, 1U);
}

TEST(ManifestRepair, AsksWhereAnotherIndexCannotBeRead) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(kCache + "/index-0123456789abcdef0123456789abcdef.bin", "damaged");
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  EXPECT_THAT(told(repaired(env)),
              HasSubstr("index-0123456789abcdef0123456789abcdef.bin may be newer"));
}

TEST(ManifestRepair, KeepsWhatAnUnfinishedUpdateHasSealed) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  TestObserver observer;
  observer.cancel_at = 0;
  ASSERT_FALSE(pipeline::build(env, repair_request(), observer).ok());
  ASSERT_TRUE(env.exists(kCache + "/.build/journal"));
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_TRUE(env.exists(kCache + "/.build/journal"));
  EXPECT_EQ(must_build(env, repair_request()).generation, 2U);
}

// The power failed when a build had published, and its journal still lay there.
TEST(ManifestRepair, TakesWhatWasPublishedBesideItsJournal) {
  for (const std::uint64_t generation : {1U, 2U}) {
    SCOPED_TRACE("generation " + std::to_string(generation));
    MemoryEnv env;
    add_whole_cache(env);
    const auto reader = open_cache(env);  // keeps the index of generation 1
    if (generation == 2) {
      env.add_file(sound_path(0, kData + "/wavs"), sound(8));
      must_build(env, repair_request());
    }
    const Files before = files_below(env);
    env.add_file(kCache + "/.build/" + std::string(store::kBuildMark), "");
    env.add_file(kCache + "/.build/journal",
                 store::encode_line(store::JournalHead{.generation = generation}));
    const std::string& manifest = before.at(kManifest);
    const std::size_t at_digest =
        manifest.find(formats::decode_manifest(manifest)->index_digest.to_hex());
    for (const std::size_t place : {std::size_t{70}, at_digest}) {
      env.add_file(kCache + "/" + kManifest, flipped(manifest, place));
      const Report report = repaired(env);
      EXPECT_TRUE(report.ok) << told(report);
      EXPECT_EQ(open_cache(env)->manifest().generation, generation);
    }
    EXPECT_TRUE(must_build(env, repair_request()).unchanged);
    EXPECT_EQ(difference(before, files_below(env)), "");
  }
}

TEST(ManifestRepair, ALostOneIsToldByWhoeverOpensTheCache) {
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + kManifest).ok());
  const auto view = reader::CacheView::open(env, kCache);
  EXPECT_EQ(view.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(view.status().message(), HasSubstr("verify /cache --repair' mends it"));
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

// Work that a build has not published yet is the build's to finish.
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
