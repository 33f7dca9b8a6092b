// diff between caches composed for the purpose, whose differences are known, and between caches
// that real builds have made.
#include "maintain/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "support/test_cache.hpp"

namespace xtts::maintain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_test_cache;
using testing::MemoryEnv;
using testing::TestCache;
using testing::TestCacheOptions;
using testing::TestClip;

constexpr std::size_t kChannels = 5;

DiffReport must_diff(MemoryEnv& env, const DiffOptions& options = {}) {
  auto report = diff_caches(env, "/a", "/b", options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report ? *report : DiffReport{};
}

DiffReport diff(const TestCache& a, const TestCache& b, const DiffOptions& options = {}) {
  MemoryEnv env;
  a.add_to(env, "/a");
  b.add_to(env, "/b");
  return must_diff(env, options);
}

TestCacheOptions edited(std::function<void(TestClip&)> edit) {
  TestCacheOptions options;
  options.edit_clip = std::move(edit);
  return options;
}

TEST(Diff, FindsTheSameCacheEqual) {
  const DiffReport report = diff(make_test_cache(), make_test_cache());
  EXPECT_TRUE(report.equal);
  EXPECT_EQ(report.clip_count_a, 7U);
  EXPECT_EQ(report.common_count, 7U);
  EXPECT_EQ(report.same_count, 7U);
  ASSERT_EQ(report.compared.size(), 2U);
  EXPECT_EQ(report.compared[0].column, "mel");
  EXPECT_EQ(report.compared[0].compared_count, 7U);
  EXPECT_GT(report.compared[0].value_count, 0U);
  EXPECT_EQ(report.compared[0].max_abs, 0.0);
}

TEST(Diff, OfOneCacheWithItself) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/a");
  const auto report = diff_caches(env, "/a", "/a", {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->equal);
}

TEST(Diff, FindsPackedAndPaddedOfTheSameNumbersEqual) {
  const DiffReport report = diff(make_test_cache({.layout = formats::Layout::kPadded}),
                                 make_test_cache({.layout = formats::Layout::kPacked}));
  EXPECT_TRUE(report.equal);
  EXPECT_THAT(report.columns, ElementsAre("mel.layout: \"padded\" in A, \"packed\" in B",
                                          "tokens.layout: \"padded\" in A, \"packed\" in B"));
}

TEST(Diff, NamesClipsThatOnlyOneHas) {
  const TestCache less = make_test_cache({.clip_count = 5});
  const TestCache more = make_test_cache({.clip_count = 7});
  const DiffReport report = diff(less, more);
  EXPECT_FALSE(report.equal);
  EXPECT_THAT(report.only_in_a, IsEmpty());
  EXPECT_THAT(report.only_in_b, ElementsAre("clip-105", "clip-106"));
  EXPECT_EQ(report.only_in_b_count, 2U);
  EXPECT_EQ(report.same_count, 5U);
  EXPECT_THAT(diff(more, less).only_in_a, ElementsAre("clip-105", "clip-106"));
}

TEST(Diff, PairsClipsOfDataSetsByTheirFullIds) {
  const DiffReport report =
      diff(make_test_cache({.dataset = "lj"}), make_test_cache({.dataset = "vctk"}));
  EXPECT_EQ(report.common_count, 0U);
  EXPECT_EQ(report.only_in_a_count, 7U);
  EXPECT_EQ(report.only_in_b_count, 7U);
  EXPECT_EQ(report.only_in_b[0], "vctk/clip-100");
}

TEST(Diff, TellsByHowMuchAMelDiffersAndWhere) {
  const DiffReport report = diff(make_test_cache(), make_test_cache(edited([](TestClip& clip) {
                                   if (clip.id == "clip-103") clip.mel[2 * kChannels + 4] += 0.25F;
                                 })));
  EXPECT_FALSE(report.equal);
  EXPECT_EQ(report.same_count, 6U);
  ASSERT_EQ(report.differing.size(), 1U);
  EXPECT_EQ(report.differing[0].id, "clip-103");
  EXPECT_THAT(report.differing[0].fields, IsEmpty());
  ASSERT_EQ(report.differing[0].columns.size(), 1U);
  EXPECT_EQ(report.differing[0].columns[0].column, "mel");
  const RecordDifference& values = report.differing[0].columns[0].values;
  EXPECT_EQ(values.differing_count, 1U);
  EXPECT_EQ(values.max_abs, 0.25);
  EXPECT_EQ(values.row, 2U);
  EXPECT_EQ(values.channel, 4U);
  const ColumnSummary& mel = report.compared[0];
  EXPECT_EQ(mel.differing_count, 1U);
  EXPECT_EQ(mel.max_abs, 0.25);
  EXPECT_EQ(mel.max_id, "clip-103");
  EXPECT_EQ(mel.mean_abs(), 0.25 / static_cast<double>(mel.value_count));
  EXPECT_EQ(report.compared[1].differing_count, 0U);
}

TEST(Diff, WithinTheToleranceIsEqual) {
  const TestCache a = make_test_cache();
  const TestCache b = make_test_cache(edited([](TestClip& clip) { clip.mel[0] += 0.25F; }));
  const DiffReport within = diff(a, b, {.tolerance = 0.25});
  EXPECT_TRUE(within.equal);
  EXPECT_EQ(within.same_count, 7U);
  EXPECT_EQ(within.compared[0].tolerated_count, 7U);
  EXPECT_EQ(within.compared[0].max_abs, 0.25);
  EXPECT_FALSE(diff(a, b, {.tolerance = 0.24}).equal);
}

TEST(Diff, NamesLengthsAndTokens) {
  const DiffReport report = diff(make_test_cache(), make_test_cache(edited([](TestClip& clip) {
                                   if (clip.id == "clip-101")
                                     clip.mel.resize(clip.mel.size() - kChannels);
                                   if (clip.id == "clip-102") clip.tokens[0] = 77;
                                 })));
  ASSERT_EQ(report.differing.size(), 2U);
  const RecordDifference& mel = report.differing[0].columns[0].values;
  EXPECT_EQ(mel.length_a, mel.length_b + 1);
  EXPECT_EQ(mel.differing_count, 0U);
  EXPECT_EQ(report.differing[1].columns[0].column, "tokens");
  EXPECT_EQ(report.differing[1].columns[0].values.max_abs, 76.0);
}

TEST(Diff, KeepsSoManyAndCountsAll) {
  const DiffReport report =
      diff(make_test_cache(), make_test_cache(edited([](TestClip& clip) { clip.mel[0] += 1.0F; })),
           {.kept_max = 2});
  EXPECT_EQ(report.differing.size(), 2U);
  EXPECT_EQ(report.differing_count, 7U);
}

TEST(Diff, NamesADamagedRecordAndGoesOn) {
  const TestCache a = make_test_cache();
  TestCache b = make_test_cache();
  std::string& shard = b.files[b.shard_name(0, 1)];  // clips 104 to 106
  shard[3 * formats::kPageBytes] = static_cast<char>(shard[3 * formats::kPageBytes] ^ 1);
  const DiffReport report = diff(a, b);
  EXPECT_FALSE(report.equal);
  EXPECT_EQ(report.same_count, 6U);
  EXPECT_EQ(report.differing_count, 0U);
  ASSERT_EQ(report.unreadable.size(), 1U);
  EXPECT_EQ(report.unreadable[0].id, "clip-104");
  EXPECT_EQ(report.unreadable[0].cache, "/b");
  EXPECT_EQ(report.unreadable[0].column, "mel");
  EXPECT_THAT(report.unreadable[0].problem, HasSubstr(b.shard_name(0, 1)));
}

TEST(Diff, CountsEachRecordOfAMissingShard) {
  TestCache b = make_test_cache();
  b.files.erase(b.shard_name(0, 0));
  const DiffReport report = diff(make_test_cache(), b);
  EXPECT_EQ(report.unreadable_count, 4U);
  EXPECT_EQ(report.same_count, 3U);
}

TEST(Diff, EndsAtADamagedIndexAndNamesTheCache) {
  TestCache b = make_test_cache();
  b.files[b.index_name][10] = 'x';
  MemoryEnv env;
  make_test_cache().add_to(env, "/a");
  b.add_to(env, "/b");
  const auto report = diff_caches(env, "/a", "/b", {});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(report.status().message(), HasSubstr("/b"));
}

TEST(Diff, EndsWhereADiskFails) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/a");
  make_test_cache().add_to(env, "/b");
  env.set_hook([](testing::EnvOperation& operation) {
    const bool shard = operation.path.find("/b/shards/mel/") != std::string::npos;
    return operation.call == testing::EnvCall::kRead && shard
               ? Status(StatusCode::kResource, "input/output error")
               : Status();
  });
  const auto report = diff_caches(env, "/a", "/b", {});
  EXPECT_EQ(report.status().code(), StatusCode::kResource);
}

TEST(Diff, StopsWhenAsked) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/a");
  make_test_cache().add_to(env, "/b");
  std::uint64_t seen = 0;
  const auto report =
      diff_caches(env, "/a", "/b",
                  {.progress = [&](std::uint64_t done, std::uint64_t) { seen = done; },
                   .cancelled = [&] { return seen == 3; }});
  EXPECT_EQ(report.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(seen, 3U);
}

TEST(Diff, OfACacheThatIsNotThereSaysSo) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/a");
  EXPECT_EQ(diff_caches(env, "/a", "/b", {}).status().code(), StatusCode::kNotFound);
}

// Caches as builds make them.
struct Builds {
  static constexpr std::uint32_t kClips = 10;
  MemoryEnv env;

  void build(const std::string& cache, const std::vector<std::string>& settings = {}) {
    auto request = testing::request_for(testing::recipe_of_small_shards(settings));
    request.options.cache = cache;
    testing::must_build(env, request);
  }
};

TEST(Diff, NamesAMendedTextAndItsTokens) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  builds.build("/a");
  testing::add_list(builds.env, Builds::kClips, {{4, "Mended."}});
  builds.build("/b");
  const DiffReport report = must_diff(builds.env);
  EXPECT_THAT(report.recipe, IsEmpty());
  ASSERT_EQ(report.differing.size(), 1U);
  const ClipDifference& clip = report.differing[0];
  EXPECT_EQ(clip.id, testing::clip_name(4));
  EXPECT_FALSE(clip.sources_differ);
  ASSERT_EQ(clip.fields.size(), 2U);
  EXPECT_EQ(clip.fields[0].field, "text");
  EXPECT_EQ(clip.fields[0].in_a, "Sentence 4.");
  EXPECT_EQ(clip.fields[0].in_b, "Mended.");
  EXPECT_EQ(clip.fields[1].field, "normalized_text");
  ASSERT_EQ(clip.columns.size(), 1U);
  EXPECT_EQ(clip.columns[0].column, "tokens");
}

TEST(Diff, BetweenTwoGenerationsNamesWhatTheUpdateChanged) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  builds.build("/a");
  for (const auto& [path, bytes] : testing::files_below(builds.env, "/a"))
    builds.env.add_file("/b/" + path, bytes);
  builds.env.add_file(testing::sound_path(2, testing::kData + "/wavs"), testing::sound(5));
  builds.build("/b");
  const DiffReport report = must_diff(builds.env);
  EXPECT_EQ(report.generation_a, 1U);
  EXPECT_EQ(report.generation_b, 2U);
  ASSERT_EQ(report.differing.size(), 1U);
  EXPECT_EQ(report.differing[0].id, testing::clip_name(2));
  EXPECT_TRUE(report.differing[0].sources_differ);
  EXPECT_EQ(report.same_count, Builds::kClips - 1);
}

TEST(Diff, ComparesFloat16WithFloat32AsNumbers) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  builds.build("/a");
  builds.build("/b", {"storage.dtype=float16"});
  const DiffReport report = must_diff(builds.env);
  EXPECT_THAT(report.recipe, ElementsAre("storage.dtype: \"float32\" in A, \"float16\" in B"));
  EXPECT_EQ(report.differing_count, Builds::kClips);
  EXPECT_THAT(report.only_in_a, IsEmpty());
  EXPECT_EQ(report.compared[1].differing_count, 0U);  // tokens
  // Natural logs of magnitudes lie within 16 of zero, where halves are 2^-7 apart at most.
  EXPECT_GT(report.compared[0].max_abs, 0.0);
  EXPECT_LE(report.compared[0].max_abs, 1.0 / 256.0);
  EXPECT_TRUE(must_diff(builds.env, {.tolerance = 1.0 / 256.0}).equal);
}

TEST(Diff, FindsAPackedBuildEqualToAPaddedOne) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  for (const std::string layout : {"padded", "packed"}) {
    auto request = testing::request_for(testing::recipe_with({"storage.layout=" + layout}));
    request.options.cache = layout == "padded" ? "/a" : "/b";
    testing::must_build(builds.env, request);
  }
  const DiffReport report = must_diff(builds.env);
  EXPECT_TRUE(report.equal);
  EXPECT_THAT(report.recipe, ElementsAre("storage.layout: \"padded\" in A, \"packed\" in B"));
}

TEST(Diff, NamesSpeakersSplitsAndTheirNumbers) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  builds.build("/a", {"corpus.speaker=anna"});
  builds.build("/b", {"corpus.speaker=bert", "corpus.train_split=0", "corpus.validation_split=1"});
  const DiffReport report = must_diff(builds.env);
  ASSERT_EQ(report.differing_count, Builds::kClips);
  std::map<std::string, std::pair<std::string, std::string>> fields;
  for (const FieldDifference& field : report.differing[0].fields)
    fields[field.field] = {field.in_a, field.in_b};
  EXPECT_EQ(fields["speaker"], std::pair(std::string("anna"), std::string("bert")));
  EXPECT_EQ(fields["split"], std::pair(std::string("train"), std::string("validation")));
  EXPECT_FALSE(fields.contains("speaker_number"));
  EXPECT_THAT(report.differing[0].columns, IsEmpty());
}

TEST(Diff, OfTheSameSpeakerUnderAnotherNumberIsOne) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  builds.build("/a", {"corpus.speaker=anna"});
  auto request = testing::request_for(testing::recipe_of_small_shards({"corpus.speaker=anna"}));
  request.options.cache = "/b";
  request.known_speakers = {"zoe", "anna"};
  testing::must_build(builds.env, request);
  const DiffReport report = must_diff(builds.env);
  ASSERT_EQ(report.differing_count, Builds::kClips);
  ASSERT_EQ(report.differing[0].fields.size(), 1U);
  EXPECT_EQ(report.differing[0].fields[0].field, "speaker_number");
  EXPECT_EQ(report.differing[0].fields[0].in_a, "0");
  EXPECT_EQ(report.differing[0].fields[0].in_b, "1");
}

TEST(Diff, IsTheSameFromBothSides) {
  Builds builds;
  testing::add_listed_sounds(builds.env, Builds::kClips);
  builds.build("/a");
  testing::add_listed_sounds(builds.env, Builds::kClips + 2);
  testing::add_list(builds.env, Builds::kClips + 2, {{1, "Other."}});
  builds.build("/b", {"storage.dtype=bfloat16"});
  const DiffReport forth = must_diff(builds.env);
  const auto back = diff_caches(builds.env, "/b", "/a", {});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(forth.only_in_b, back->only_in_a);
  EXPECT_EQ(forth.only_in_a, back->only_in_b);
  EXPECT_EQ(forth.differing_count, back->differing_count);
  EXPECT_EQ(forth.same_count, back->same_count);
  EXPECT_EQ(forth.compared[0].max_abs, back->compared[0].max_abs);
  EXPECT_EQ(forth.compared[0].sum_abs, back->compared[0].sum_abs);
}

}  // namespace
}  // namespace xtts::maintain
