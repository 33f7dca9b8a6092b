// The words of a dry run about hours, sizes and clips that are too long, against what is in DATA.
#include "pipeline/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "build_support.hpp"
#include "pipeline/clip_sample.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

pipeline::BuildPreview dry_run(MemoryEnv& env, const std::vector<std::string>& settings = {}) {
  auto request = request_for(recipe_of_small_shards(settings));
  request.options.dry_run = true;
  TestObserver observer;
  observer.has_estimate = true;
  const auto report = pipeline::build(env, request, observer);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return *observer.preview();
}

corpus::Corpus corpus_of(const std::vector<std::pair<std::string, std::uint64_t>>& files) {
  corpus::Corpus corpus;
  for (const auto& [source, bytes] : files) {
    corpus::Clip clip;
    clip.id = source;
    clip.source = source;
    clip.source_bytes = bytes;
    corpus.clips.push_back(std::move(clip));
  }
  return corpus;
}

std::vector<std::uint32_t> places_of(const corpus::Corpus& corpus) {
  std::vector<std::uint32_t> places(corpus.clips.size());
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = i;
  return places;
}

TEST(ClipSample, HasEachExtensionBeforeTheSecondOfAny) {
  std::vector<std::pair<std::string, std::uint64_t>> files;
  for (int i = 0; i < 1000; ++i) files.emplace_back("a" + std::to_string(i) + ".wav", 200'000);
  for (int i = 0; i < 10; ++i) files.emplace_back("b" + std::to_string(i) + ".mp3", 20'000);
  files.emplace_back("c.flac", 90'000);
  const auto corpus = corpus_of(files);
  const auto sample = pipeline::sample_clips(corpus, places_of(corpus), 3, 1U << 20U);
  std::set<std::string> extensions;
  for (const auto place : sample.clips)
    extensions.emplace(file_extension(corpus.clips[place].source));
  EXPECT_EQ(extensions, (std::set<std::string>{"wav", "mp3", "flac"}));
}

TEST(ClipSample, IsSharedOutByTheBytesOfEachKind) {
  std::vector<std::pair<std::string, std::uint64_t>> files;
  for (int i = 0; i < 900; ++i) files.emplace_back("s" + std::to_string(i) + ".wav", 10'000);
  for (int i = 0; i < 90; ++i) files.emplace_back("l" + std::to_string(i) + ".wav", 900'000);
  const auto corpus = corpus_of(files);
  const auto sample = pipeline::sample_clips(corpus, places_of(corpus), 20, 1U << 20U);
  ASSERT_EQ(sample.clips.size(), 20U);
  const auto large = std::ranges::count_if(sample.clips, [&](std::uint32_t place) {
    return corpus.clips[place].source_bytes == 900'000;
  });
  EXPECT_EQ(large, 18);  // 81 MB of 90 MB
}

TEST(ClipSample, IsTheSameInWhateverOrder) {
  std::vector<std::pair<std::string, std::uint64_t>> files;
  for (int i = 0; i < 300; ++i) files.emplace_back("a" + std::to_string(i) + ".wav", 1'000 + i);
  const auto names = [](const corpus::Corpus& corpus) {
    std::set<std::string> all;
    for (const auto place : pipeline::sample_clips(corpus, places_of(corpus), 12, 1U << 20U).clips)
      all.insert(corpus.clips[place].id);
    return all;
  };
  const auto forwards = names(corpus_of(files));
  std::ranges::reverse(files);
  EXPECT_EQ(forwards.size(), 12U);
  EXPECT_EQ(names(corpus_of(files)), forwards);
}

// First come 120 short clips of few bytes a second, then 12 long ones of many: a sample in the
// order of the corpus, scaled by bytes, is off by ten.
TEST(Estimate, IsRightWhereRatesAndLengthsDiffer) {
  MemoryEnv env;
  double seconds = 0.0;
  for (std::uint32_t i = 0; i < 120; ++i) {
    env.add_file(kData + "/a" + std::to_string(i) + ".wav",
                 tone_wav(300.0, {.seconds = 0.2, .rate_hz = 8000}));
    seconds += 0.2;
  }
  for (std::uint32_t i = 0; i < 12; ++i) {
    env.add_file(kData + "/b" + std::to_string(i) + ".wav",
                 tone_wav(300.0, {.seconds = 2.0, .rate_hz = 44100}));
    seconds += 2.0;
  }
  const auto preview = dry_run(env);
  ASSERT_TRUE(preview.sound_seconds && preview.build_seconds_range);
  EXPECT_NEAR(*preview.sound_seconds, seconds, 0.05 * seconds);
  // The clock of a MemoryEnv stands.
  EXPECT_LE(preview.build_seconds_range->first, *preview.build_seconds);
  EXPECT_GE(preview.build_seconds_range->second, *preview.build_seconds);
}

TEST(Estimate, SaysHowManyClipsAreTooLongAndWhatKeepsThem) {
  MemoryEnv env;
  std::string list;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const double seconds = i < 10 ? 3.0 : 0.4;
    env.add_file(kData + "/wavs/" + clip_name(i) + ".wav",
                 tone_wav(300.0 + i, {.seconds = seconds, .rate_hz = 16000}));
    list += clip_name(i) + "|Sentence.|Sentence.\n";
  }
  env.add_file(kData + "/metadata.csv", list);
  const auto preview = dry_run(env, {"features.max_frames=100"});  // 1.16 s
  EXPECT_EQ(preview.expected_drops.setting(), "features.max_frames");
  EXPECT_EQ(preview.expected_drops.count, 10U);
  ASSERT_TRUE(preview.expected_drops.keeps_all);
  EXPECT_GE(preview.expected_drops.keeps_all->value, 259.0);  // 3.0 s
  EXPECT_LE(preview.expected_drops.keeps_all->value, 300.0);
  EXPECT_GT(preview.expected_drop_share, 0.25);  // of the hours: 30 of 42 s
}

TEST(Estimate, CountsWhatAnInterruptedBuildHasSealed) {
  MemoryEnv env;
  add_sounds(env, 32);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 20;
  EXPECT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  const auto preview = dry_run(env);
  EXPECT_EQ(preview.sealed_count, 16U);
  EXPECT_EQ(preview.to_compute_count, 32U);
}

// A build that is over before a sample would be is not kept waiting for one.
TEST(Estimate, IsLeftOutBeforeAShortBuild) {
  MemoryEnv env;
  add_sounds(env, 20);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.has_estimate = true;
  ASSERT_TRUE(pipeline::build(env, request, observer).ok());
  EXPECT_FALSE(observer.preview()->build_seconds.has_value());
}

}  // namespace
}  // namespace xtts::testing
