// LiveClips beside builds of the same request: on many threads at once, of segments that share a
// source, of sound that is too long for the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "build_support.hpp"
#include "pipeline/live_clips.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kLiveThreads = 4;

std::unique_ptr<pipeline::LiveClips> must_open_live(Env& env,
                                                    const pipeline::BuildRequest& request) {
  auto clips = pipeline::LiveClips::open(env, request, "/");
  EXPECT_TRUE(clips.ok()) << clips.status().message();
  if (!clips.ok()) throw std::runtime_error("no clips");
  return std::move(*clips);
}

// True where a record holds what the cache has at the position.
bool is_stored(reader::CacheView& cache, std::uint64_t position,
               const pipeline::LiveRecord& record) {
  const auto& columns = cache.manifest().columns;
  if (record.reject || record.records.size() != columns.size()) return false;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto stored = cache.read_record(columns[column].spec.name, position);
    if (!stored.ok() || stored->shape[0] != record.records[column].length ||
        !std::ranges::equal(std::as_bytes(std::span(stored->bytes)),
                            std::as_bytes(std::span(record.records[column].rows)))) {
      return false;
    }
  }
  return true;
}

// Each thread asks for all clips, from another place on, twice: how many answers were not the
// cache's.
std::uint64_t wrong_answers(pipeline::LiveClips& clips, Env& env) {
  std::atomic<std::uint64_t> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t first = 0; first < kLiveThreads; ++first) {
      threads.emplace_back([&, first] {
        const auto cache = open_cache(env);
        for (std::uint64_t i = 0; i < 2 * clips.size(); ++i) {
          const std::uint64_t place = (first * 3 + i) % clips.size();
          const auto record = clips.record(place);
          const auto position = cache->find(corpus::full_id(clips.clip(place)));
          const bool is_right =
              record.ok() && position.ok() &&
              (*position ? is_stored(*cache, **position, *record) : record->reject.has_value());
          if (!is_right) ++wrong;
        }
      });
    }
  }
  return wrong;
}

TEST(LiveClips, GiveTheCachesRecordsOnManyThreads) {
  MemoryEnv env;
  add_listed_sounds(env, 20);
  env.add_file(kData + "/wavs/" + clip_name(7) + ".wav", "no sound");
  auto request = request_for(recipe_of_small_shards({"columns.wave=int16", "columns.energy=true"}),
                             kLiveThreads);
  request.max_rejects.share = 1.0;
  const auto report = must_build(env, request);
  ASSERT_EQ(report.rejects.size(), 1U);

  const auto clips = must_open_live(env, request);
  ASSERT_EQ(clips->size(), 20U);
  EXPECT_EQ(wrong_answers(*clips, env), 0U);
  EXPECT_EQ(clips->fault_count(), 1U);
  const auto rejected = clips->find(report.rejects[0].id);
  ASSERT_TRUE(rejected.has_value());
  const auto record = clips->record(*rejected);
  ASSERT_TRUE(record.ok() && record->reject.has_value());
  EXPECT_EQ(*record->reject, report.rejects[0]);
}

TEST(LiveClips, DecodeASourceOfManySegmentsOnce) {
  MemoryEnv env;
  env.add_file(kData + "/talk.wav", noise_wav(3, {.seconds = 4.0, .rate_hz = 44100}));
  env.add_file(kData + "/wav.scp", "talk talk.wav\n");
  std::string segments;
  std::string text;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::string begin = "0." + std::to_string(i);
    segments += clip_name(i) + " talk " + begin + " 1." + std::to_string(i) + "\n";
    text += clip_name(i) + " Sentence.\n";
  }
  env.add_file(kData + "/segments", segments);
  env.add_file(kData + "/text", text);
  const auto request = request_for(recipe_of_small_shards({"corpus.layout=kaldi"}), kLiveThreads);
  must_build(env, request);

  const auto clips = must_open_live(env, request);
  ASSERT_EQ(clips->size(), 8U);
  ASSERT_TRUE(clips->record(0).ok());
  OpenedSources opened(env);
  EXPECT_EQ(wrong_answers(*clips, env), 0U);
  EXPECT_EQ(opened.take(), std::set<std::string>());
}

TEST(LiveClips, HaveTextsWithoutTokens) {
  MemoryEnv env;
  add_listed_sounds(env, 2);
  const auto clips =
      must_open_live(env, request_for(recipe_of_small_shards({"text.tokens=none"}), kLiveThreads));
  EXPECT_EQ(clips->facts(1).text_raw, "Sentence 1.");
  const auto record = clips->record(1);
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->facts.text_raw, "Sentence 1.");
  EXPECT_EQ(record->token_count, 0U);
}

TEST(LiveClips, KeepLongSoundInAFileAsABuildDoes) {
  MemoryEnv env;
  env.add_file(kData + "/long.wav", tone_wav(220.0, {.seconds = 15.0}));
  auto request = request_for(recipe_of_small_shards({"features.too_long=truncate"}), 1);
  must_build(env, request);

  request.run.thread_count = kLiveThreads;
  request.run.memory_bytes = 0;  // a worker's least: 12 s of sound
  auto clips = must_open_live(env, request);
  ASSERT_EQ(clips->size(), 1U);
  const auto files_before = env.all_files();
  EXPECT_EQ(wrong_answers(*clips, env), 0U);
  EXPECT_GE(env.scratch_count(), 1U);
  EXPECT_LE(env.scratch_count(), kLiveThreads);  // a worker keeps its own
  EXPECT_EQ(env.all_files(), files_before);
  clips.reset();
  EXPECT_EQ(env.scratch_count(), 0U);
}

TEST(LiveClips, AreNotOpenedWhereNoneIsLeft) {
  MemoryEnv env;
  add_listed_sounds(env, 2);
  const auto request = request_for(
      recipe_of_small_shards({"text.max_tokens=4", "text.too_long=drop"}));  // of sentences of 11
  const auto clips = pipeline::LiveClips::open(env, request, "/");
  EXPECT_EQ(clips.status().code(), StatusCode::kTooManyRejects);
}

TEST(LiveClips, OfCutFilesAreRefusedAsABuildRefusesThem) {
  for (const auto& [action, is_refused] : {std::pair("auto", true), std::pair("warn", false)}) {
    MemoryEnv env;
    add_listed_sounds(env, 4);
    const std::string path = sound_path(2, kData + "/wavs");
    const std::string whole = sound(2);
    env.add_file(path, whole.substr(0, whole.size() / 2));
    const auto clips = must_open_live(
        env, request_for(recipe_of_small_shards({std::string("corpus.truncated=") + action})));
    const auto record = clips->record(*clips->find(clip_name(2)));
    ASSERT_TRUE(record.ok()) << record.status().message();
    EXPECT_EQ(record->reject.has_value(), is_refused) << action;
    EXPECT_EQ(record->facts.warnings.size(), is_refused ? 0U : 1U) << action;
    EXPECT_FALSE(clips->record(*clips->find(clip_name(1)))->reject);
  }
}

}  // namespace
}  // namespace xtts::testing
