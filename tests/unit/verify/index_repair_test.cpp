// A lost index, brought back from its copy, in caches that the real pipeline built.
#include "verify/index_repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repair_support.hpp"
#include "store/index_copy.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verify::Report;

const std::string kCopy(store::kIndexCopyName);

std::string index_of(MemoryEnv& env) {
  return files_named(files_below(env), "index-").begin()->first;
}

void expect_index_comes_back(MemoryEnv& env) {
  const Files before = files_below(env);
  const std::string name = index_of(env);
  const std::string& bytes = before.at(name);
  for (const std::string& damaged :
       {flipped(bytes, 10), flipped(bytes, bytes.size() / 2), flipped(bytes, bytes.size() - 1),
        bytes.substr(0, bytes.size() / 2), std::string()}) {
    env.add_file(kCache + "/" + name, damaged);
    const Report report = repaired(env, repair_options(""));
    EXPECT_TRUE(report.ok) << told(report);
    EXPECT_EQ(difference(before, files_below(env)), "");
  }
  ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
  EXPECT_TRUE(repaired(env, repair_options("")).ok);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

TEST(IndexRepair, BringsTheIndexBack) {
  MemoryEnv env;
  add_whole_cache(env);
  expect_index_comes_back(env);
}

// The shards of an updated cache do not tell which of their records are dead.
TEST(IndexRepair, BringsTheIndexOfSeveralGenerationsBack) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  must_build(env, repair_request());
  add_list(env, kRepairClips, {{5, "Mended."}});
  must_build(env, repair_request());
  must_build(env, repair_request({"text.tokens=none"}));
  EXPECT_EQ(open_cache(env)->manifest().generation, 4U);
  expect_index_comes_back(env);
}

TEST(IndexRepair, TrustsNoByteOfADamagedCopy) {
  for (const std::size_t offset : {std::size_t{10}, whole(kCopy).size() - 1}) {
    MemoryEnv env;
    add_whole_cache(env);
    ASSERT_TRUE(env.remove_file(kCache + "/" + index_of(env)).ok());
    env.add_file(kCache + "/" + kCopy, flipped(whole(kCopy), offset));
    const Files damaged = files_below(env);
    const Report report = repaired(env);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.repaired, IsEmpty());
    EXPECT_THAT(told(report), HasSubstr("not mended, index: "));
    EXPECT_EQ(difference(damaged, files_below(env)), "");
  }
}

TEST(IndexRepair, RenewsTheCopy) {
  for (const bool is_lost : {false, true}) {
    MemoryEnv env;
    add_whole_cache(env);
    const Files before = files_below(env);
    env.add_file(kCache + "/" + kCopy, flipped(whole(kCopy), 10));
    if (is_lost) ASSERT_TRUE(env.remove_file(kCache + "/" + kCopy).ok());
    // Nobody has to repair a cache without a copy. Its next build makes one.
    if (is_lost) must_build(env, repair_request());
    if (!is_lost) EXPECT_TRUE(repaired(env).ok);
    EXPECT_EQ(difference(before, files_below(env)), "");
  }
}

}  // namespace
}  // namespace xtts::testing
