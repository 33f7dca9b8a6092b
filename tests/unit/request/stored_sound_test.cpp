// StoredSound beside a build's own column of the same sound: bit for bit, each source once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "build_support.hpp"
#include "request/stored_sound.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using request::StoredSound;

constexpr std::uint32_t kClips = 20;
const std::string kWithWave = "/with_wave";

request::Caller counting(DecodedSources& decoded) {
  return {.make_decoder = [&decoded]() -> Result<audio::MakeDecoder> { return decoded.maker(); }};
}

// Builds the cache, and beside it one with the sound as a column.
void build_both(MemoryEnv& env, const std::vector<std::string>& settings) {
  env.add_folder("/tmp");
  must_build(env, request_for(recipe_of_small_shards(settings)));
  std::vector<std::string> with_wave = settings;
  with_wave.emplace_back("columns.wave=float32");
  auto request = request_for(recipe_of_small_shards(with_wave));
  request.options.cache = kWithWave;
  must_build(env, request);
}

std::unique_ptr<StoredSound> must_open(Env& env, reader::CacheView& view,
                                       const request::Caller& caller) {
  auto sound = StoredSound::open(env, view, {}, caller);
  EXPECT_TRUE(sound.ok()) << sound.status().message();
  if (!sound.ok()) throw std::runtime_error("no sound");
  return std::move(*sound);
}

std::vector<std::uint64_t> all_positions(std::uint64_t count) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t i = 0; i < count; ++i) positions.push_back(i);
  return positions;
}

// True where the sound begins as the build's column, which holds whole frames.
bool is_column(const std::vector<float>& sound, const std::vector<float>& column) {
  const std::size_t count = std::min(sound.size(), column.size());
  const auto is_zero = [](float x) { return x == 0.0F; };
  return count > 0 && std::memcmp(sound.data(), column.data(), count * sizeof(float)) == 0 &&
         std::all_of(column.begin() + static_cast<std::ptrdiff_t>(count), column.end(), is_zero);
}

// Reads all clips in order, and compares each.
void expect_the_columns_sound(MemoryEnv& env, StoredSound& sound, std::uint64_t clip_count) {
  DecodedSources unused;
  const auto view = open_cache(env, kWithWave);
  const auto wave = must_open(env, *view, counting(unused));
  for (std::uint64_t i = 0; i < clip_count; ++i) {
    const auto decoded = sound.read(i);
    const auto stored = wave->read(i);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    EXPECT_TRUE(is_column(*decoded, *stored)) << "clip " << i;
  }
  EXPECT_EQ(unused.decoder_count(), 0U);
}

void add_talk(MemoryEnv& env, std::uint32_t clip_count) {
  env.add_file(kData + "/talk.wav", noise_wav(3, {.seconds = 8.0, .rate_hz = 44100}));
  env.add_file(kData + "/wav.scp", "talk talk.wav\n");
  std::string segments;
  std::string text;
  for (std::uint32_t i = 0; i < clip_count; ++i) {
    const std::string begin = std::to_string(0.25 * i);
    segments += clip_name(i) + " talk " + begin + " " + std::to_string(0.25 * i + 0.7) + "\n";
    text += clip_name(i) + " Sentence.\n";
  }
  env.add_file(kData + "/segments", segments);
  env.add_file(kData + "/text", text);
}

TEST(StoredSound, AheadIsTheBuildsOwnSoundFromFewDecoders) {
  MemoryEnv env;
  add_listed_sounds(env, kClips);
  build_both(env, {"trim.method=top_db"});
  DecodedSources decoded;
  const auto view = open_cache(env);
  const auto sound = must_open(env, *view, counting(decoded));
  ASSERT_TRUE(sound->expect({.positions = all_positions(kClips)}).ok());
  EXPECT_EQ(decoded.count(), 0U);  // nobody has asked yet
  expect_the_columns_sound(env, *sound, kClips);
  EXPECT_EQ(decoded.count(), kClips);
  EXPECT_LE(decoded.decoder_count(), pipeline::default_thread_count() + 1);
}

TEST(StoredSound, OneByOneIsTheSameFromOneDecoder) {
  MemoryEnv env;
  add_listed_sounds(env, kClips);
  build_both(env, {});
  DecodedSources decoded;
  const auto view = open_cache(env);
  const auto sound = must_open(env, *view, counting(decoded));
  expect_the_columns_sound(env, *sound, kClips);
  EXPECT_EQ(decoded.count(), kClips);
  EXPECT_EQ(decoded.decoder_count(), 1U);
}

TEST(StoredSound, DecodesASourceOfManySegmentsOnce) {
  MemoryEnv env;
  add_talk(env, kClips);
  build_both(env, {"corpus.layout=kaldi"});
  for (const std::uint32_t process_count : {1U, 2U}) {
    DecodedSources decoded;
    const auto view = open_cache(env);
    auto sound = must_open(env, *view, counting(decoded));
    ASSERT_TRUE(
        sound->expect({.positions = all_positions(kClips), .process_count = process_count}).ok());
    expect_the_columns_sound(env, *sound, kClips);
    EXPECT_EQ(decoded.count(), 1U);
    EXPECT_EQ(env.scratch_count(), process_count == 1 ? 0U : 1U);  // its last clip is known, or not
    sound.reset();
    EXPECT_EQ(env.scratch_count(), 0U);
  }
}

TEST(StoredSound, RefusesASourceThatHasChangedAndNoOther) {
  MemoryEnv env;
  add_sounds(env, 3);
  env.add_folder("/tmp");
  must_build(env, request_for(recipe_of_small_shards()));
  env.add_file(sound_path(1), sound(7));
  DecodedSources decoded;
  const auto view = open_cache(env);
  const auto sound = must_open(env, *view, counting(decoded));
  ASSERT_TRUE(sound->expect({.positions = all_positions(3)}).ok());
  EXPECT_TRUE(sound->read(0).ok());
  const Status changed = sound->read(1).status();
  EXPECT_EQ(changed.code(), StatusCode::kMismatch);
  EXPECT_NE(changed.message().find("clip-0001.wav has changed since the build"), std::string::npos)
      << changed.message();
  EXPECT_TRUE(sound->read(2).ok());
}

TEST(StoredSound, TakesAFileWhoseBytesChangedButNotItsSound) {
  MemoryEnv env;
  add_sounds(env, 2);
  env.add_folder("/tmp");
  must_build(env, request_for(recipe_of_small_shards()));
  env.add_file(sound_path(1), sound(1) + std::string("LIST\4\0\0\0abcd", 12));  // a tag
  DecodedSources decoded;
  const auto view = open_cache(env);
  EXPECT_TRUE(must_open(env, *view, counting(decoded))->read(1).ok());
}

TEST(StoredSound, ExpectedPositionsAscend) {
  MemoryEnv env;
  add_sounds(env, 2);
  must_build(env, request_for(recipe_of_small_shards()));
  DecodedSources decoded;
  const auto view = open_cache(env);
  const auto sound = must_open(env, *view, counting(decoded));
  EXPECT_EQ(sound->expect({.positions = {1, 0}}).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts::testing
