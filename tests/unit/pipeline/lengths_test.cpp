// Lengths that a recipe leaves to the corpus: which number a build takes, and that it stays.
#include "pipeline/lengths.hpp"

#include <gtest/gtest.h>

#include <random>

#include "build_support.hpp"
#include "pipeline/live_clips.hpp"
#include "recipe/recipe_file.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using pipeline::choose_length;
using pipeline::ChosenLength;
using pipeline::LengthRule;

constexpr LengthRule kFrames = {.step = 32, .least = 0, .most = 2585, .without_clip = 800};

// `count` clips of 500 frames, and the longer ones.
std::vector<std::uint32_t> clips(std::size_t count, const std::vector<std::uint32_t>& longer) {
  std::vector<std::uint32_t> needed = longer;
  needed.resize(longer.size() + count, 500);
  return needed;
}

TEST(ChosenLength, HoldsAllOfFewerThanAThousandClips) {
  EXPECT_EQ(choose_length({500}, kFrames).number, 512U);
  EXPECT_EQ(choose_length(clips(998, {901}), kFrames).number, 928U);
}

TEST(ChosenLength, MayLeaveOutOneClipInAThousand) {
  const ChosenLength one = choose_length(clips(999, {901}), kFrames);
  EXPECT_EQ(one.number, 512U);
  EXPECT_EQ(one.clip_count, 1000U);
  EXPECT_EQ(one.longer_count, 1U);
  EXPECT_EQ(one.longest, 901U);
  EXPECT_EQ(choose_length(clips(998, {901, 902}), kFrames).number, 928U);
  EXPECT_EQ(choose_length(clips(1998, {901, 902}), kFrames).number, 512U);
}

TEST(ChosenLength, IsAMultipleThatIsNoLargerThanItMustBe) {
  EXPECT_EQ(choose_length({800}, kFrames).number, 800U);
  EXPECT_EQ(choose_length({801}, kFrames).number, 832U);
  EXPECT_EQ(choose_length({1}, kFrames).number, 32U);
  EXPECT_EQ(choose_length({0}, {.step = 8, .most = 1024}).number, 8U);
}

TEST(ChosenLength, IsNeverBelowTheLeastNorAboveTheMost) {
  LengthRule rule = kFrames;
  EXPECT_EQ(choose_length({9000, 9000}, rule).number, 2592U);  // 2,585 rounded up
  EXPECT_EQ(choose_length({9000, 9000}, rule).longer_count, 2U);
  rule.least = 800;
  EXPECT_EQ(choose_length({500}, rule).number, 800U);
  rule.least = 900;  // kept as it is given
  EXPECT_EQ(choose_length({500}, rule).number, 900U);
  EXPECT_EQ(choose_length({901}, rule).number, 928U);
  rule.least = 4000;
  EXPECT_EQ(choose_length({9000}, rule).number, 4000U);
}

TEST(ChosenLength, IsNotForClipsThatAreDroppedEvenSo) {
  LengthRule rule = kFrames;
  rule.drops_longer = true;
  const ChosenLength chosen = choose_length(clips(50, {9000, 2592}), rule);
  EXPECT_EQ(chosen.number, 2592U);
  EXPECT_EQ(chosen.longer_count, 1U);
  EXPECT_EQ(choose_length(clips(50, {9000, 2593}), rule).number, 512U);
  EXPECT_EQ(choose_length(clips(50, {9000, 2593}), rule).longer_count, 2U);
  EXPECT_EQ(choose_length(clips(50, {9000, 2593}), rule).clip_count, 52U);
  EXPECT_EQ(choose_length({9000, 9000}, rule).number, 2592U);          // nothing fits
  EXPECT_EQ(choose_length(clips(50, {9000}), kFrames).number, 2592U);  // it is cut there
}

TEST(ChosenLength, OfNoClipIsTheFormats) {
  LengthRule rule = kFrames;
  EXPECT_EQ(choose_length({}, rule).number, 800U);
  EXPECT_EQ(choose_length({}, rule).clip_count, 0U);
  rule.least = 1000;
  EXPECT_EQ(choose_length({}, rule).number, 1000U);
}

TEST(ChosenLength, TellsTheShareOfPadding) {
  EXPECT_DOUBLE_EQ(choose_length({16, 32}, kFrames).padding_share, 0.25);
  EXPECT_DOUBLE_EQ(choose_length({9000}, kFrames).padding_share, 0.0);
}

TEST(ChosenLength, IsTheSmallestOfAllThatHoldEnough) {
  constexpr std::uint32_t kSeed = 48;
  std::mt19937 random(kSeed);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::uint32_t> needed(1 + random() % 3000);
    const std::uint32_t spread = 1 + random() % 3000;
    for (std::uint32_t& one : needed) one = random() % spread;
    const auto held_by = [&](std::uint32_t number) {
      return std::ranges::count_if(needed, [=](std::uint32_t one) { return one <= number; });
    };
    const auto wanted = static_cast<std::ptrdiff_t>(needed.size() - needed.size() / 1000);
    const std::uint32_t number = choose_length(needed, kFrames).number;
    ASSERT_EQ(number % 32, 0U) << turn;
    if (number < 2592) ASSERT_GE(held_by(number), wanted) << turn;
    if (number > 32) ASSERT_LT(held_by(number - 32), wanted) << turn;
  }
}

// A corpus of short clips with texts, and a recipe that leaves both lengths to it.
struct Corpus {
  MemoryEnv env;
  pipeline::BuildRequest request =
      request_for(recipe_with({"features.max_frames=auto", "text.max_tokens=auto",
                               "corpus.train_split=1", "corpus.validation_split=0"}));

  explicit Corpus(std::uint32_t count = 10) {
    add_listed_sounds(env, count);
    request.max_losses.dropped = 1.0;
  }
  void add_long_clip(std::uint32_t number, double seconds) {
    env.add_file(sound_path(number, kData + "/wavs"), tone_wav(300.0, {.seconds = seconds}));
    add_list(env, number + 1);
  }
  void set(const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) {
      const Status status = recipe::apply_setting(Env::real(), request.recipe, setting);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
  [[nodiscard]] std::uint32_t frames(const std::string& cache = kCache) {
    return open_cache(env, cache)->manifest().max_frames();
  }
  [[nodiscard]] std::uint32_t tokens() {
    return open_cache(env)->manifest().find_column("tokens")->spec.shape.front();
  }
};

TEST(OpenLengths, AreThoseOfTheCorpus) {
  Corpus corpus;
  const auto report = must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 64U);  // 0.6 s are 52 frames
  EXPECT_EQ(corpus.tokens(), 16U);  // "Sentence 7."
  EXPECT_EQ(report.record_count, 10U);
  EXPECT_EQ(report.lengths.frames.clip_count, 10U);
  EXPECT_EQ(report.lengths.frames.longest, 52U);
  EXPECT_EQ(report.lengths.tokens.number, 16U);
  EXPECT_TRUE(must_build(corpus.env, corpus.request).unchanged);
  EXPECT_EQ(damage_in(corpus.env), "");
}

TEST(OpenLengths, AreAtLeastWhatTheRecipeAsks) {
  Corpus corpus;
  corpus.set({"features.max_frames=100+", "text.max_tokens=200+"});
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 100U);
  EXPECT_EQ(corpus.tokens(), 200U);
}

TEST(OpenLengths, CountWhatTokensCount) {
  Corpus corpus;
  add_list(corpus.env, 10, {{3, "درود بر شما ای دوست"}});
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.tokens(), 40U);  // 19 characters, of which 4 are spaces: 34 bytes
  corpus.set({"text.tokens=characters", "text.vocabulary=Sentc 0123456789.دروبشمایست",
              "text.max_tokens=auto"});
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.tokens(), 24U);
}

TEST(OpenLengths, StayInUpdates) {
  Corpus corpus;
  must_build(corpus.env, corpus.request);
  corpus.add_long_clip(10, 2.0);
  const auto report = must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 64U);
  EXPECT_EQ(report.reused_count, 10U);
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects.front().reason.rule, formats::Rule::kTooLong);
  corpus.request.options.overwrite = true;
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 192U);
}

TEST(OpenLengths, ThatLoseTooMuchInAnUpdateNeedAnotherCache) {
  Corpus corpus;
  must_build(corpus.env, corpus.request);
  corpus.add_long_clip(10, 2.0);
  corpus.request.max_losses.dropped = 0.05;
  const auto refused = run_build(corpus.env, corpus.request);
  EXPECT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  EXPECT_NE(refused.status().message().find("--overwrite makes it anew"), std::string::npos)
      << refused.status().message();
}

TEST(OpenLengths, EqualTheStoredNumberAndNoOther) {
  Corpus corpus;
  corpus.set({"features.max_frames=640"});
  must_build(corpus.env, corpus.request);
  for (const char* same :
       {"features.max_frames=auto", "features.max_frames=640+", "features.max_frames=640"}) {
    corpus.set({same});
    EXPECT_TRUE(must_build(corpus.env, corpus.request).unchanged) << same;
  }
  for (const char* other : {"features.max_frames=641", "features.max_frames=800+"}) {
    corpus.set({other});
    const auto refused = run_build(corpus.env, corpus.request);
    EXPECT_EQ(refused.status().code(), StatusCode::kMismatch) << other;
    EXPECT_NE(refused.status().message().find("features.max_frames: 640"), std::string::npos)
        << refused.status().message();
  }
}

TEST(OpenLengths, OfTokensAreLookedAtWhenTextsCome) {
  Corpus corpus;
  add_list(corpus.env, 10, {{3, std::string(300, 'a')}});
  corpus.request.recipe.text.store = false;
  EXPECT_EQ(must_build(corpus.env, corpus.request).lengths.tokens.number, 200U);
  corpus.request.recipe.text.store = true;
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 64U);
  EXPECT_EQ(corpus.tokens(), 304U);
}

TEST(OpenLengths, AreTheSameInAllParts) {
  Corpus corpus;
  corpus.add_long_clip(10, 2.0);
  std::vector<std::uint32_t> frames;
  for (const std::uint32_t part : {1U, 2U}) {
    corpus.request.partition = pipeline::PartitionChoice{.index = part, .count = 2};
    corpus.request.options.cache = "/part" + std::to_string(part);
    must_build(corpus.env, corpus.request);
    frames.push_back(corpus.frames(corpus.request.options.cache));
  }
  EXPECT_EQ(frames, (std::vector<std::uint32_t>{192, 192}));
}

// Sun's format, which no header of ours tells: big-endian PCM of 16 bits.
std::string au_file(std::uint32_t sample_count) {
  std::string file = ".snd";
  for (const std::uint32_t field : {24U, 0xFFFFFFFFU, 3U, 22050U, 1U}) {
    for (const int shift : {24, 16, 8, 0}) file += static_cast<char>(field >> shift & 0xFFU);
  }
  for (std::uint32_t i = 0; i < sample_count; ++i) file += std::string("\x10", 1) + '\0';
  return file;
}

TEST(OpenLengths, AreCountedByTheDecoderWhereHeadersAreSilent) {
  MemoryEnv env;
  auto request = request_for(recipe_with({"features.max_frames=auto", "corpus.silent=keep"}));
  env.add_file(kData + "/a.au", au_file(44'100));
  env.add_file(kData + "/broken.wav", "no sound");
  request.max_rejects.share = 1.0;
  const auto report = must_build(env, request);
  EXPECT_EQ(report.record_count, 1U);
  EXPECT_EQ(report.lengths.frames.clip_count, 1U);
  EXPECT_EQ(open_cache(env)->manifest().max_frames(), 192U);  // 173 frames
}

TEST(OpenLengths, WhereClipsAreSplitAreTheLeast) {
  Corpus corpus;
  corpus.set({"features.too_long=split", "features.max_frames=100+"});
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 100U);
  corpus.set({"features.max_frames=auto"});
  corpus.request.options.overwrite = true;
  must_build(corpus.env, corpus.request);
  EXPECT_EQ(corpus.frames(), 2592U);  // 30 s
}

TEST(OpenLengths, OfClipsWithoutACacheAreThoseOfACache) {
  Corpus corpus;
  must_build(corpus.env, corpus.request);
  auto clips = pipeline::LiveClips::open(corpus.env, corpus.request, "/tmp");
  ASSERT_TRUE(clips.ok()) << clips.status().message();
  EXPECT_EQ((*clips)->manifest().features_fingerprint,
            open_cache(corpus.env)->manifest().features_fingerprint);
  EXPECT_EQ((*clips)->manifest().text_fingerprint,
            open_cache(corpus.env)->manifest().text_fingerprint);
}

}  // namespace
}  // namespace xtts::testing
