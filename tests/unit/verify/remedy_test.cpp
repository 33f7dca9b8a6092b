// One remedy for all that is damaged: the cheapest that helps, with the real paths.
#include "verify/remedy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/shell_words.hpp"
#include "repair_support.hpp"
#include "request/verify_words.hpp"

namespace xtts::testing {
namespace {

using verify::Options;
using verify::Report;

std::string command_of(const Report& report) {
  return report.remedy ? request::command_of(*report.remedy) : std::string("none");
}

class Remedies : public ::testing::Test {
 protected:
  Remedies() { add_whole_cache(env_); }

  void damage(const std::string& name, std::size_t offset) {
    env_.add_file(kCache + "/" + name, flipped(whole(name), offset));
  }
  std::string of_verify(const Options& options = {}) {
    const auto report = verify::verify_cache(env_, kCache, options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report ? command_of(*report) : std::string();
  }

  MemoryEnv env_;
  const std::string index_ = files_named(whole_cache(), "index-").begin()->first;
  const std::string mel_ = shard_names("mel").front();
};

TEST_F(Remedies, AreNoneOfASoundCache) {
  EXPECT_EQ(of_verify(), "none");
}

TEST_F(Remedies, OfADamagedIndexManifestOrNoteAreARepair) {
  damage(index_, whole(index_).size() / 2);
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair");
  add_whole_cache(env_);
  damage(index_, whole(index_).size() - 5);
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair");
  add_whole_cache(env_);
  damage("manifest.json", 70);
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair");
  add_whole_cache(env_);
  env_.add_file(kCache + "/rejects.jsonl", "another text");
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair");
}

TEST_F(Remedies, NameTheSourcesOnlyWhereTheyAreNeededAndHaveMoved) {
  damage(mel_, header_of(whole(mel_)) + 30);
  env_.add_folder("/moved");
  ASSERT_TRUE(env_.rename(kData, "/moved/it's data").ok());
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair") << "a header needs no source";
  damage(mel_, header_of(whole(mel_)) + kHeaderBytes + 9);
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair --data DATA");
  Options options;
  options.sources.data.path = "/moved/it's data";
  options.sources.make_decoder = in_this_process();
  EXPECT_EQ(of_verify(options),
            "xtts-precompute verify /cache --repair --data '/moved/it'\\''s data'");
  ASSERT_TRUE(env_.rename("/moved/it's data", kData).ok());
  EXPECT_EQ(of_verify(), "xtts-precompute verify /cache --repair") << "it finds them by itself";
}

TEST_F(Remedies, AfterARepairAreWhatItCouldNotDo) {
  damage(mel_, header_of(whole(mel_)) + kHeaderBytes + 9);
  EXPECT_EQ(command_of(repaired(env_, repair_options("/nowhere"))),
            "xtts-precompute verify /cache --repair --data DATA");
  env_.add_file(sound_path(0, kData + "/wavs"), sound(8));
  EXPECT_EQ(command_of(repaired(env_)), "xtts-precompute build /data /cache --max-rejects 1");
}

// With a lost shard, no build begins: the repair itself has to let go of the clip.
TEST_F(Remedies, OfALostRecordThatNoSourceMakesAgainWork) {
  ASSERT_TRUE(env_.remove_file(kCache + "/" + mel_).ok());
  ASSERT_TRUE(env_.remove_file(sound_path(0, kData + "/wavs")).ok());
  auto options = repair_options();
  const Report refused = repaired(env_, options);
  EXPECT_FALSE(refused.ok);
  EXPECT_EQ(command_of(refused), "xtts-precompute verify /cache --repair --max-gone 11.2%");
  EXPECT_EQ(open_cache(env_)->manifest().generation, 1U);
  options.max_gone = 0.112;
  const Report report = repaired(env_, options);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(command_of(report), "none");
  EXPECT_EQ(of_verify(), "none");
}

TEST(ShellWords, AreReadBackAsOneWord) {
  EXPECT_EQ(shell_quoted("/a/b-c_d.e"), "/a/b-c_d.e");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("-rf"), "./'-rf'");
  EXPECT_EQ(shell_quoted("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_quoted("a\n\x1b[31m'\\b"), "$'a\\x0a\\x1b[31m\\'\\\\b'");
}

}  // namespace
}  // namespace xtts::testing
