// An update follows what was corrected in lists, names and settings since the last build.
// tests/cli/settings_hold.py changes each setting of a recipe.
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "formats/rules.hpp"

namespace xtts::testing {
namespace {

void add_part(MemoryEnv& env, const std::string& times) {
  env.add_file(kData + "/talk.wav", sound(4));  // 0.6 s
  env.add_file(kData + "/wav.scp", "talk talk.wav\n");
  env.add_file(kData + "/segments", "first talk 0 0.2\nlast talk " + times + "\n");
  env.add_file(kData + "/text", "first a\nlast b\n");
}

pipeline::BuildRequest lenient_request(const std::vector<std::string>& settings = {}) {
  auto request = request_for(recipe_of_small_shards(settings));
  request.max_rejects.share = 1.0;
  return request;
}

std::string bytes_of_noise() {
  std::string bytes;
  std::uint32_t state = 7;
  for (int i = 0; i < 16000; ++i) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24U);
  }
  return bytes;
}

TEST(ChangedRules, ARejectedPartWhoseTimesWereCorrectedIsTriedAgain) {
  MemoryEnv env;
  add_part(env, "7 8");
  ASSERT_EQ(must_build(env, lenient_request()).rejects.size(), 1U);
  EXPECT_TRUE(must_build(env, lenient_request()).unchanged);
  add_part(env, "9 10");
  auto report = must_build(env, lenient_request());
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].reason.numbers[0], 9.0);
  add_part(env, "0.3 0.5");
  report = must_build(env, lenient_request());
  EXPECT_EQ(report.computed_count, 1U);
  EXPECT_EQ(report.record_count, 2U);
}

TEST(ChangedRules, SoundWhoseSuffixWasCorrectedIsDecodedAgain) {
  MemoryEnv env;
  env.add_file(kData + "/voice.sln", bytes_of_noise());
  env.add_file(kData + "/zoe.wav", sound(0));
  const auto before = must_build(env, lenient_request());
  ASSERT_EQ(before.record_count, 2U);
  ASSERT_TRUE(env.rename(kData + "/voice.sln", kData + "/voice.g722").ok());
  EXPECT_EQ(must_build(env, lenient_request()).computed_count, 1U);
  auto request = lenient_request();
  request.options.cache = "/fresh";
  must_build(env, request);
  const auto updated = open_cache(env)->details(0);
  const auto fresh = open_cache(env, "/fresh")->details(0);
  ASSERT_TRUE(updated.ok() && fresh.ok());
  EXPECT_EQ(updated->codec, fresh->codec);
  EXPECT_EQ(updated->pcm_digest, fresh->pcm_digest);
  // By another name, too, it is no copy of the noise.
  ASSERT_TRUE(env.rename(kData + "/voice.g722", kData + "/other.sln").ok());
  const auto renamed = must_build(env, lenient_request());
  EXPECT_EQ(renamed.accounting.renamed, 0U);
  EXPECT_EQ(renamed.computed_count, 1U);
}

TEST(ChangedRules, ALowerLimitOfSourcesDropsWholeFilesAndTheirParts) {
  MemoryEnv env;
  add_part(env, "0.3 0.5");
  must_build(env, lenient_request());
  env.add_file("/whole/long.wav", sound(4));
  env.add_file("/whole/short.wav", sound(0));
  auto whole = lenient_request();
  whole.data.path = "/whole";
  whole.options.cache = "/cache-of-whole";
  must_build(env, whole);

  whole.recipe = recipe_of_small_shards({"corpus.max_source_seconds=0.5"});
  auto report = must_build(env, whole);
  EXPECT_EQ(report.record_count, 1U);
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].reason.rule, formats::Rule::kSourceTooLong);

  const auto refused = run_build(env, lenient_request({"corpus.max_source_seconds=0.5"}));
  EXPECT_EQ(refused.status().code(), StatusCode::kTooManyRejects) << "none is left";
  report = must_build(env, lenient_request({"corpus.max_source_seconds=0.7"}));
  EXPECT_EQ(report.record_count, 2U);
}

TEST(KeptRecipe, OfAGenerationThatIsReplacedMeanwhileIsBusy) {
  MemoryEnv env;
  add_sounds(env, 2);
  auto request = lenient_request();
  must_build(env, request);
  request.recipe_of = open_cache(env)->manifest().index_digest;
  EXPECT_TRUE(must_build(env, request).unchanged);
  request.recipe_of->low ^= 1U;
  EXPECT_EQ(run_build(env, request).status().code(), StatusCode::kBusy);
  request.options.overwrite = true;
  EXPECT_EQ(run_build(env, request).status().code(), StatusCode::kBusy);
}

TEST(KeptRecipe, KeepsTheNumbersOfSpeakers) {
  MemoryEnv env;
  add_sounds(env, 2);
  must_build(env, lenient_request({"corpus.speaker=zoe"}));
  auto request = lenient_request({"corpus.speaker=anna"});
  must_build(env, request);
  const std::vector<std::string> names = {"zoe", "anna"};
  ASSERT_EQ(open_cache(env)->manifest().speakers, names);
  request.options.overwrite = true;
  request.recipe_of = open_cache(env)->manifest().index_digest;
  must_build(env, request);
  EXPECT_EQ(open_cache(env)->manifest().speakers, names);
  request.known_speakers = {"anna"};
  request.recipe_of = open_cache(env)->manifest().index_digest;
  must_build(env, request);
  EXPECT_EQ(open_cache(env)->manifest().speakers, request.known_speakers);
}

}  // namespace
}  // namespace xtts::testing
