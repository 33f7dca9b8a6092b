// Columns beside the mel: what they hold, and that a cache with them is built, interrupted and
// updated like any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "build_support.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using ::testing::ElementsAre;

// Nothing changes the samples of a file at the recipe's rate.
const std::vector<std::string> kAsItIs = {"trim.method=none", "loudness.method=none"};
const std::vector<std::string> kAll = {"columns.linear=true", "columns.wave=int16",
                                       "columns.energy=true", "features.max_frames=120"};

std::vector<std::string> both(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <typename Number>
std::vector<Number> numbers_of(reader::CacheView& cache, const std::string& column,
                               std::uint64_t position) {
  const auto record = cache.read_record(column, position);
  EXPECT_TRUE(record.ok()) << record.status().message();
  if (!record.ok()) return {};
  std::vector<Number> numbers(record->bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), record->bytes.data(), record->bytes.size());
  return numbers;
}

std::vector<std::string> column_names(const reader::CacheView& cache) {
  std::vector<std::string> names;
  for (const auto& column : cache.manifest().columns) names.push_back(column.spec.name);
  return names;
}

std::vector<std::int16_t> samples_in(const std::string& wav) {
  constexpr std::size_t kWavHeaderBytes = 44;
  std::vector<std::int16_t> samples((wav.size() - kWavHeaderBytes) / sizeof(std::int16_t));
  std::memcpy(samples.data(), wav.data() + kWavHeaderBytes, samples.size() * sizeof(std::int16_t));
  return samples;
}

TEST(SoundColumns, EachHasARowInTheNoteOfTheFormat) {
  const auto note = read_text_file(Env::real(), XTTS_SOURCE_DIR "/formats/cache-v1.md", 1 << 20);
  ASSERT_TRUE(note.ok());
  for (const formats::SoundColumnInfo& info : formats::all_sound_columns())
    EXPECT_THAT(*note, ::testing::HasSubstr("\n| `" + std::string(info.name) + "` | ["));
}

TEST(SoundColumns, StandBesideTheMelWithoutChangingIt) {
  MemoryEnv env;
  add_listed_sounds(env, 6);
  must_build(env, request_for(recipe_of_small_shards({"features.max_frames=120"})));
  const auto alone = open_cache(env);
  MemoryEnv other;
  add_listed_sounds(other, 6);
  must_build(other, request_for(recipe_of_small_shards(kAll)));
  const auto cache = open_cache(other);
  EXPECT_THAT(column_names(*cache), ElementsAre("mel", "linear", "wave", "energy", "tokens"));
  EXPECT_EQ(damage_in(other), "");
  for (std::uint64_t position = 0; position < cache->size(); ++position) {
    EXPECT_EQ(numbers_of<float>(*cache, "mel", position),
              numbers_of<float>(*alone, "mel", position));
  }
  EXPECT_EQ(cache->manifest().mel_statistics->mean, alone->manifest().mel_statistics->mean);
}

TEST(SoundColumns, EnergyIsTheNormOfTheLinearBins) {
  MemoryEnv env;
  add_sounds(env, 3);
  must_build(env, request_for(recipe_of_small_shards(kAll)));
  const auto cache = open_cache(env);
  for (std::uint64_t position = 0; position < cache->size(); ++position) {
    const auto linear = numbers_of<float>(*cache, "linear", position);
    const auto energy = numbers_of<float>(*cache, "energy", position);
    const auto mel = numbers_of<float>(*cache, "mel", position);
    ASSERT_EQ(linear.size(), energy.size() * 513);
    ASSERT_EQ(mel.size(), energy.size() * 80);
    for (std::size_t frame = 0; frame < energy.size(); ++frame) {
      double sum = 0.0;
      for (std::size_t bin = 0; bin < 513; ++bin)
        sum += std::pow(static_cast<double>(linear[frame * 513 + bin]), 2);
      EXPECT_FLOAT_EQ(energy[frame], static_cast<float>(std::sqrt(sum)));
    }
  }
}

TEST(SoundColumns, WaveHasTheSamplesOfA16BitFileAsTheyWere) {
  MemoryEnv env;
  const std::string wav = noise_wav(7, {.seconds = 0.43, .rate_hz = 22050});
  env.add_file(kData + "/a.wav", wav);
  must_build(env, request_for(recipe_of_small_shards(both(kAsItIs, kAll))));
  const auto cache = open_cache(env);
  EXPECT_EQ(numbers_of<std::int16_t>(*cache, "wave", 0), samples_in(wav));
  EXPECT_EQ(cache->manifest().find_column("wave")->spec.shape,
            std::vector<std::uint32_t>{120 * 256});
}

TEST(SoundColumns, WaveIsCutWhereTheFramesAre) {
  MemoryEnv env;
  const std::string wav = noise_wav(7, {.seconds = 0.43, .rate_hz = 22050});
  env.add_file(kData + "/a.wav", wav);
  must_build(env, request_for(recipe_of_small_shards(
                      both(kAsItIs, {"columns.wave=float32", "features.max_frames=20"}))));
  const auto cache = open_cache(env);
  const auto wave = numbers_of<float>(*cache, "wave", 0);
  ASSERT_EQ(wave.size(), 20U * 256U);
  const auto samples = samples_in(wav);
  for (std::size_t i = 0; i < wave.size(); ++i)
    ASSERT_EQ(wave[i], static_cast<float>(samples[i]) / 32768.0F);
}

TEST(SoundColumns, WaveHasTheZerosThatTheFramesHave) {
  MemoryEnv env;
  const std::string wav = noise_wav(7, {.seconds = 0.2, .rate_hz = 22050});
  env.add_file(kData + "/a.wav", wav);
  must_build(env, request_for(recipe_of_small_shards(
                      both(kAsItIs, both(kAll, {"zeros.front_samples=100", "zeros.back_samples=30",
                                                "zeros.multiple_samples=64"})))));
  std::vector<std::int16_t> expected(100);
  const auto samples = samples_in(wav);
  expected.insert(expected.end(), samples.begin(), samples.end());
  expected.resize((expected.size() + 30 + 63) / 64 * 64);
  EXPECT_EQ(numbers_of<std::int16_t>(*open_cache(env), "wave", 0), expected);
  EXPECT_EQ(damage_in(env), "");
}

TEST(SoundColumns, OfSoundAloneLengthsCountHops) {
  MemoryEnv env;
  add_listed_sounds(env, 4);
  must_build(env, request_for(recipe_of_small_shards(
                      both(kAsItIs, {"columns.mel=false", "columns.wave=int16", "stft.framing=end",
                                     "features.max_frames=120"}))));
  const auto cache = open_cache(env);
  EXPECT_THAT(column_names(*cache), ElementsAre("wave", "tokens"));
  EXPECT_FALSE(cache->manifest().mel_statistics.has_value());
  EXPECT_EQ(damage_in(env), "");
  for (std::uint64_t position = 0; position < cache->size(); ++position) {
    const auto samples = numbers_of<std::int16_t>(*cache, "wave", position);
    const auto facts = cache->details(position);
    EXPECT_EQ(samples.size(), *facts->trim_end_samples);
    EXPECT_EQ(cache->plan_row(position)->mel_len, (samples.size() + 255) / 256);
  }
}

TEST(SoundColumns, SamplesBeyondFullScaleStopThere) {
  MemoryEnv env;
  env.add_file(kData + "/a.wav", tone_wav(440.0, {.seconds = 0.2, .rate_hz = 22050}));
  must_build(env, request_for(recipe_of_small_shards(
                      {"trim.method=none", "loudness.target=1", "loudness.limit_peak=false",
                       "loudness.then_peak_to_one=false", "columns.wave=int16",
                       "features.max_frames=120"})));
  const auto wave = numbers_of<std::int16_t>(*open_cache(env), "wave", 0);
  EXPECT_EQ(*std::ranges::max_element(wave), 32767);
  EXPECT_EQ(*std::ranges::min_element(wave), -32768);
}

// Shards of five clips: those of the widest column, the sound.
const std::vector<std::string> kShared = {"columns.wave=int16", "columns.energy=true"};

TEST(SoundColumns, EndTheirShardsTogether) {
  MemoryEnv env;
  add_listed_sounds(env, 12);
  must_build(env, request_for(recipe_of_small_shards(kShared)));
  const auto cache = open_cache(env);
  for (const std::string name : {"mel", "wave", "energy"}) {
    const auto* column = cache->manifest().find_column(name);
    EXPECT_EQ(column->records_per_shard, 5U) << name;
    ASSERT_EQ(column->shards.size(), 3U) << name;
    EXPECT_EQ(column->shards.front().record_count, 5U) << name;
  }
}

TEST(SoundColumns, InterruptedAnywhereTheyGoOnToTheSameBytes) {
  const auto request = request_for(recipe_of_small_shards(kShared), 3);
  MemoryEnv undisturbed;
  add_listed_sounds(undisturbed, 12);
  must_build(undisturbed, request_for(recipe_of_small_shards(kShared), 1));
  for (const std::uint64_t cancel_at : {1U, 5U, 9U, 10U, 12U}) {
    SCOPED_TRACE("cancelled after " + std::to_string(cancel_at));
    MemoryEnv env;
    add_listed_sounds(env, 12);
    TestObserver observer;
    observer.cancel_at = cancel_at;
    ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
    TestObserver again;
    ASSERT_TRUE(pipeline::build(env, request, again).ok());
    EXPECT_EQ(again.preview()->sealed_count, cancel_at == 12 ? 12 : cancel_at / 5 * 5);
    EXPECT_EQ(difference(files_below(undisturbed), files_below(env)), "");
  }
}

TEST(SoundColumns, ALostSealedShardOfOneIsMadeAgainWithTheOthers) {
  const auto request = request_for(recipe_of_small_shards(kShared), 1);
  MemoryEnv env;
  add_listed_sounds(env, 12);
  TestObserver observer;
  observer.cancel_at = 10;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  const Files waves = files_named(files_below(env), "shards/wave/");
  ASSERT_EQ(waves.size(), 2U);
  ASSERT_TRUE(env.remove_file(kCache + "/" + waves.rbegin()->first).ok());
  TestObserver again;
  ASSERT_TRUE(pipeline::build(env, request, again).ok());
  EXPECT_EQ(again.preview()->sealed_count, 5U);
  EXPECT_EQ(damage_in(env), "");
}

TEST(SoundColumns, AnUpdateAppendsToEach) {
  MemoryEnv env;
  add_listed_sounds(env, 7);
  const auto request = request_for(recipe_of_small_shards(kShared));
  must_build(env, request);
  const auto before = numbers_of<std::int16_t>(*open_cache(env), "wave", 6);
  add_listed_sounds(env, 9);
  env.add_file(sound_path(2, kData + "/wavs"), sound(22));
  const auto report = must_build(env, request);
  EXPECT_EQ(report.computed_count, 3U);
  EXPECT_EQ(damage_in(env), "");
  const auto cache = open_cache(env);
  EXPECT_EQ(cache->size(), 9U);
  EXPECT_EQ(numbers_of<std::int16_t>(*cache, "wave", 6), before);
  EXPECT_EQ(cache->tombstones()->size(), 3U) << "the old record 2 of each column";
}

TEST(SoundColumns, OthersAreAnotherRecipe) {
  MemoryEnv env;
  add_listed_sounds(env, 3);
  must_build(env, request_for(recipe_of_small_shards()));
  const auto refused = run_build(env, request_for(recipe_of_small_shards(kShared)));
  EXPECT_EQ(refused.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(refused.status().message(), ::testing::HasSubstr("features.columns"));
}

}  // namespace
}  // namespace xtts::testing
