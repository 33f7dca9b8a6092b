// A lost index, made again from the shards of caches that the real pipeline built.
#include "verify/index_repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repair_support.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verify::Report;

const std::string& index_name() {
  static const std::string name = files_named(whole_cache(), "index-").begin()->first;
  return name;
}

TEST(IndexRepair, MakesTheIndexAgainFromTheShards) {
  const std::string& bytes = whole(index_name());
  for (const std::string& damaged :
       {flipped(bytes, 10), flipped(bytes, bytes.size() / 2), flipped(bytes, bytes.size() - 1),
        bytes.substr(0, bytes.size() / 2), std::string()}) {
    MemoryEnv env;
    add_whole_cache(env);
    env.add_file(kCache + "/" + index_name(), damaged);
    expect_repaired(env, repaired(env, repair_options("")), index_name());
  }
  MemoryEnv env;
  add_whole_cache(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + index_name()).ok());
  expect_repaired(env, repaired(env), index_name());
}

TEST(IndexRepair, MakesTheIndexOfACacheWithoutTextAgain) {
  MemoryEnv env;
  add_sounds(env, 5);
  env.add_file(sound_path(5), sound(0));  // warned of: the same sound as the first
  must_build(env, request_for(recipe_with({"features.max_frames=64"})));
  const Files before = files_below(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + files_named(before, "index-").begin()->first).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

// Without tokens the index alone has the texts, so the lists of DATA give them again.
TEST(IndexRepair, TakesTextsWithoutTokensFromTheLists) {
  MemoryEnv env;
  add_repair_corpus(env);
  must_build(env, repair_request({"text.tokens=none"}));
  const Files before = files_below(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + files_named(before, "index-").begin()->first).ok());
  EXPECT_THAT(told(repaired(env, repair_options(""))), HasSubstr("with --data DATA"));
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

TEST(IndexRepair, MakesTheIndexOfSeveralColumnsOfSoundAgain) {
  MemoryEnv env;
  add_repair_corpus(env);
  must_build(env, repair_request({"columns.wave=int16", "columns.energy=true"}));
  const Files before = files_below(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + files_named(before, "index-").begin()->first).ok());
  const Report report = repaired(env, repair_options(""));
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

TEST(IndexRepair, MakesNoIndexOutOfWhatIsDamagedToo) {
  struct Case {
    std::string file;
    std::string bytes;
    std::string why;
  };
  const std::string mel = shard_names("mel").front();
  for (const Case& damage :
       {Case{mel, flipped(whole(mel), facts_of(whole(mel)) + 90), "lost or damaged too"},
        Case{"rejects.jsonl", "", "other bytes than the manifest names"}}) {
    MemoryEnv env;
    add_whole_cache(env);
    ASSERT_TRUE(env.remove_file(kCache + "/" + index_name()).ok());
    env.add_file(kCache + "/" + damage.file, damage.bytes);
    const Files damaged = files_below(env);
    const Report report = repaired(env);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.repaired, IsEmpty());
    EXPECT_THAT(told(report), HasSubstr("not mended, index: "));
    EXPECT_THAT(told(report), HasSubstr(damage.why));
    EXPECT_EQ(difference(damaged, files_below(env)), "");
  }
}

TEST(IndexRepair, MakesNoIndexOfSeveralGenerations) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  must_build(env, repair_request());
  const std::string index = files_named(files_below(env), "index-").begin()->first;
  ASSERT_TRUE(env.remove_file(kCache + "/" + index).ok());
  const Report report = repaired(env);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(told(report), HasSubstr("several generations"));
}

// Texts mended since: the sound is of the first generation, the tokens are of the second.
TEST(IndexRepair, MakesTheIndexOfMendedTextsAgain) {
  MemoryEnv env;
  add_whole_cache(env);
  add_list(env, kRepairClips, {{5, "Mended."}});
  must_build(env, repair_request());
  const Files before = files_below(env);
  ASSERT_TRUE(env.remove_file(kCache + "/" + files_named(before, "index-").begin()->first).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

}  // namespace
}  // namespace xtts::testing
