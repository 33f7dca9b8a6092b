// Thread count, memory and the order of listings are how a build runs, not what it builds: names
// and bytes of every file of the cache are the same, sources.bin included.
#include <gtest/gtest.h>

#include <functional>

#include "build_support.hpp"
#include "formats/rules.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

struct Way {
  std::string name;
  std::uint32_t thread_count = 1;
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
  std::optional<std::uint64_t> shuffle_seed = std::nullopt;
  pipeline::SourceDisk disk = pipeline::SourceDisk::kAuto;
};

const std::vector<Way>& other_ways() {
  static const std::vector<Way> ways = {
      {.name = "2 threads", .thread_count = 2},
      {.name = "3 threads, shuffled listings", .thread_count = 3, .shuffle_seed = 7},
      {.name = "16 threads", .thread_count = 16},
      {.name = "4 threads, rotating disk",
       .thread_count = 4,
       .disk = pipeline::SourceDisk::kRotating},
      {.name = "16 threads, 4 GiB, shuffled listings",
       .thread_count = 16,
       .memory_bytes = std::uint64_t{4} << 30U,
       .shuffle_seed = 1},
  };
  return ways;
}

using AddCorpus = std::function<void(MemoryEnv&)>;

Files built(const AddCorpus& add_corpus, const formats::Recipe& recipe, const Way& way) {
  MemoryEnv env;
  add_corpus(env);
  if (way.shuffle_seed) env.shuffle_listings(*way.shuffle_seed);
  auto request = request_for(recipe, way.thread_count);
  request.run.memory_bytes = way.memory_bytes;
  request.run.source_disk = way.disk;
  request.max_rejects.share = 1.0;
  must_build(env, request);
  EXPECT_EQ(damage_in(env), "") << way.name;
  return files_below(env);
}

void expect_same_bytes(const AddCorpus& add_corpus, const formats::Recipe& recipe) {
  const Files expected = built(add_corpus, recipe, {.name = "1 thread"});
  EXPECT_TRUE(expected.contains("manifest.json"));
  for (const Way& way : other_ways())
    EXPECT_EQ(difference(expected, built(add_corpus, recipe, way)), "") << way.name;
}

// Sound that cannot be decoded, an empty file and, with 40 frames at most, clips that are too long.
void add_troublesome_corpus(MemoryEnv& env) {
  add_sounds(env, 30);
  env.add_file(sound_path(11), "this is a text");
  env.add_file(sound_path(12), "");
}

void add_troublesome_list(MemoryEnv& env) {
  add_listed_sounds(env, 30);
  env.add_file(sound_path(11, kData + "/wavs"), "this is a text");
  add_list(env, 30, {{5, std::string(300, 'x')}});  // more than text.max_tokens
}

TEST(SameBytes, InSeveralShardsWithRejectsInTheMiddle) {
  expect_same_bytes(add_troublesome_corpus, recipe_of_small_shards());
}

TEST(SameBytes, InSeveralHdf5ShardsWithRejectsInTheMiddle) {
  expect_same_bytes(add_troublesome_list, recipe_of_small_shards({"storage.store=hdf5"}));
}

TEST(SameBytes, InBothSplitsWithTextAndClipsThatAreTooLong) {
  expect_same_bytes(add_troublesome_list, recipe_with({"features.max_frames=40"}));
}

// Beyond its worker's memory a clip's sound goes to the disk.
TEST(SameBytes, OfClipsThatAreTooLongForTheMemory) {
  const auto add_corpus = [](MemoryEnv& env) {
    add_sounds(env, 3);
    for (std::uint32_t i = 3; i < 6; ++i) {
      const WavShape shape{.seconds = 40.0 + i, .rate_hz = 16000, .channel_count = 1};
      env.add_file(sound_path(i), i == 4 ? std::string(100'000, 'x') : noise_wav(i, shape));
    }
  };
  for (const std::string trim : {"features.trim.method=top_db", "features.trim.method=none"}) {
    const auto recipe = recipe_with({trim});
    const Files expected = built(add_corpus, recipe, {.name = "in memory"});
    const Files found =
        built(add_corpus, recipe, {.name = "through a file", .thread_count = 2, .memory_bytes = 1});
    EXPECT_EQ(difference(expected, found), "");
  }
}

// Store, layout and dtype in one word.
class StoredAs : public ::testing::TestWithParam<std::string> {};

TEST_P(StoredAs, TheSameBytesWhateverTheRun) {
  const auto recipe = recipe_with(
      {"features.max_frames=40", "storage.store=" + GetParam().substr(0, 4),
       "storage.layout=" + GetParam().substr(4, 6), "storage.dtype=" + GetParam().substr(10)});
  const Files expected = built(add_troublesome_corpus, recipe, {.name = "1 thread"});
  EXPECT_EQ(difference(expected, built(add_troublesome_corpus, recipe, other_ways().back())), "");
}

INSTANTIATE_TEST_SUITE_P(Storages, StoredAs,
                         ::testing::Values("lmdbpaddedfloat32", "lmdbpaddedfloat16",
                                           "lmdbpaddedbfloat16", "lmdbpackedfloat32",
                                           "lmdbpackedfloat16", "lmdbpackedbfloat16",
                                           "hdf5paddedfloat32", "hdf5paddedbfloat16",
                                           "hdf5packedfloat32", "hdf5packedfloat16"),
                         [](const auto& storage) { return storage.param; });

// A padded record of 31 MiB: four to a shard, so that a full padded shard is ended and another
// begun. Names suffice: verify proves that each file holds what its name says.
TEST(SameBytes, InSeveralPaddedShards) {
  const auto names = [](const Way& way) {
    MemoryEnv env;
    add_sounds(env, 5);
    auto request = request_for(recipe_with({"features.max_frames=100000"}), way.thread_count);
    request.run.memory_bytes = way.memory_bytes;
    must_build(env, request);
    EXPECT_EQ(shard_count(env), 2U);
    EXPECT_EQ(damage_in(env), "");
    auto files = env.all_files();
    files.push_back(env.contents(kCache + "/manifest.json"));
    return files;
  };
  EXPECT_EQ(names({.name = "1 thread"}), names(other_ways().back()));
}

TEST(Build, StoresWhatCanBeDecodedAndNamesTheRest) {
  MemoryEnv env;
  add_troublesome_corpus(env);
  auto request = request_for(recipe_of_small_shards());
  request.max_rejects.share = 1.0;
  const auto report = must_build(env, request);
  EXPECT_EQ(report.clip_count, 30U);
  EXPECT_EQ(report.record_count, 28U);
  EXPECT_EQ(report.computed_count, 30U);
  EXPECT_EQ(shard_count(env), 4U);
  ASSERT_EQ(report.rejects.size(), 2U);
  EXPECT_EQ(report.rejects[0].path, clip_name(11) + ".wav");
  EXPECT_EQ(report.rejects[0].kind, formats::RejectClass::kInput);
  EXPECT_EQ(report.rejects[1].reason.rule, formats::Rule::kSourceEmpty);
}

TEST(Build, DropsTooLongClipsWithTextAndCutsThoseWithout) {
  const auto recipe = recipe_with({"features.max_frames=40"});
  MemoryEnv listed;
  add_listed_sounds(listed, 10);
  const auto dropped = must_build(listed, request_for(recipe));
  EXPECT_EQ(dropped.cut_count, 0U);
  EXPECT_EQ(dropped.rejects.size(), 10U - dropped.record_count);
  EXPECT_GT(dropped.rejects.size(), 0U);
  for (const auto& reject : dropped.rejects)
    EXPECT_EQ(reject.kind, formats::RejectClass::kPolicy) << reject.id;
  EXPECT_GT(dropped.frames_needed, 40U);

  MemoryEnv plain;
  add_sounds(plain, 10);
  const auto cut = must_build(plain, request_for(recipe));
  EXPECT_EQ(cut.record_count, 10U);
  EXPECT_EQ(cut.cut_count, dropped.rejects.size());

  // And the number that the report names keeps every clip.
  const auto wide = recipe_with({"features.max_frames=" + std::to_string(dropped.frames_needed)});
  auto request = request_for(wide);
  request.options.cache = "/wide";
  EXPECT_EQ(must_build(listed, request).record_count, 10U);
}

// The list tells when each word is said: the pieces are stored, each with its part of the file.
TEST(Build, SplitsTooLongClipsWhereTheirListHasTimes) {
  const auto recipe = recipe_with({"features.max_frames=40", "features.too_long=split"});
  MemoryEnv env;
  add_sounds(env, 5);
  std::string words;
  for (const char* times : {R"("start": 0.0, "end": 0.15)", R"("start": 0.18, "end": 0.33)",
                            R"("start": 0.4, "end": 0.58)"})
    words += std::string(words.empty() ? "" : ", ") + R"({"word": "w", )" + times + "}";
  env.add_file(kData + "/list.jsonl", R"({"audio": ")" + clip_name(4) +
                                          R"(.wav", "text": "w w w", "words": [)" + words + "]}\n");
  const auto report = must_build(env, request_for(recipe));
  ASSERT_EQ(report.record_count, 2U);
  EXPECT_EQ(report.rejects.size(), 0U);
  EXPECT_EQ(damage_in(env), "");
  const auto view = open_cache(env);
  for (std::uint64_t position = 0; position < 2; ++position) {
    const auto facts = view->details(position);
    EXPECT_EQ(facts->text_raw, position == 0 ? "w w" : "w");
    EXPECT_DOUBLE_EQ(*facts->segment_start_s, position == 0 ? 0.0 : 0.4 - 0.05);
    EXPECT_DOUBLE_EQ(*facts->segment_end_s, position == 0 ? 0.33 + 0.05 : 0.58);
    const double seconds = *facts->segment_end_s - *facts->segment_start_s;
    EXPECT_NEAR(view->plan_row(position)->mel_len, 1.0 + seconds * 22050 / 256, 1.0);
  }
}

// Eight clips that are all rejected leave a shard without survivors: no file, and no gap in the
// numbers of the others.
TEST(Build, LeavesNoGapWhereAWholeShardIsRejected) {
  MemoryEnv env;
  add_sounds(env, 3 * kClipsPerSmallShard);
  for (std::uint32_t i = kClipsPerSmallShard; i < 2 * kClipsPerSmallShard; ++i)
    env.add_file(sound_path(i), "no sound");
  auto request = request_for(recipe_of_small_shards());
  request.max_rejects.share = 0.5;
  const auto report = must_build(env, request);
  EXPECT_EQ(report.record_count, 2 * kClipsPerSmallShard);
  const Files shards = files_named(files_below(env), "shards/mel/");
  ASSERT_EQ(shards.size(), 2U);
  EXPECT_TRUE(shards.begin()->first.starts_with("shards/mel/00000-"));
  EXPECT_TRUE(shards.rbegin()->first.starts_with("shards/mel/00001-"));
  EXPECT_EQ(damage_in(env), "");
}

}  // namespace
}  // namespace xtts::testing
