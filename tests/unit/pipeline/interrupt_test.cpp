// A build that was stopped goes on with the same command and ends in the same bytes as one that
// nobody stopped. (Crashes and failing disks: tests/fault.)
#include <gtest/gtest.h>

#include <utility>

#include "build_support.hpp"
#include "formats/feature_config.hpp"
#include "store/journal.hpp"
#include "store/journal_line.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 20;  // shards of 8, 8 and 4

const Files& undisturbed() {
  static const Files files = [] {
    MemoryEnv env;
    add_sounds(env, kClips);
    must_build(env, request_for(recipe_of_small_shards()));
    return files_below(env);
  }();
  return files;
}

TEST(Cancelled, AfterAnyClipItGoesOnToTheSameBytes) {
  for (const std::uint64_t cancel_at : {1U, 7U, 8U, 9U, 16U, 19U, 20U}) {
    SCOPED_TRACE("cancelled after " + std::to_string(cancel_at));
    MemoryEnv env;
    add_sounds(env, kClips);
    const auto request = request_for(recipe_of_small_shards(), 3);
    TestObserver observer;
    observer.cancel_at = cancel_at;
    const auto stopped = pipeline::build(env, request, observer);
    ASSERT_EQ(stopped.status().code(), StatusCode::kCancelled) << stopped.status().message();
    EXPECT_FALSE(env.exists(kCache + "/manifest.json"));

    TestObserver again;
    const auto report = pipeline::build(env, request, again);
    ASSERT_TRUE(report.ok()) << report.status().message();
    // Whole shards were sealed: of 8 clips, and the last one of 4.
    EXPECT_EQ(again.preview()->sealed_count,
              cancel_at == kClips ? kClips : cancel_at / kClipsPerSmallShard * kClipsPerSmallShard);
    EXPECT_EQ(report->computed_count, kClips);
    EXPECT_EQ(difference(undisturbed(), files_below(env)), "");
  }
}

TEST(Cancelled, AnUpdateOfTextsAloneIsNotPublished) {
  MemoryEnv env;
  add_listed_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  must_build(env, request);
  const Files before = files_below(env);
  add_list(env, kClips, {{3, "Mended."}});
  TestObserver observer;
  observer.cancel_at = 0;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(difference(before, files_below(env)), "");
  EXPECT_EQ(must_build(env, request).generation, 2U);
}

TEST(Cancelled, WhatIsSealedIsNotReadAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 2 * kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  OpenedSources opened(env);
  must_build(env, request);
  const auto paths = opened.take();
  EXPECT_EQ(paths.size(), kClips - 2 * kClipsPerSmallShard);
  EXPECT_FALSE(paths.contains(clip_name(0) + ".wav"));
}

TEST(Cancelled, RejectsOfSealedShardsAreKept) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(3), "no sound");
  auto request = request_for(recipe_of_small_shards());
  request.max_rejects.count = 1;
  TestObserver observer;
  observer.cancel_at = kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  TestObserver again;
  const auto report = pipeline::build(env, request, again);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->rejects.size(), 1U);
  EXPECT_EQ(report->rejects[0].id, clip_name(3));
  EXPECT_EQ(again.last().reject_count, 1U);
  EXPECT_EQ(again.last().done_count, kClips);
}

// A corpus that changes while a build of it lies there, interrupted after two shards.
struct CorpusChange {
  std::string name;
  void (*change)(MemoryEnv& env) = nullptr;
  std::set<std::uint32_t> decoded;  // beside the clips of the unsealed shard, 16 to 19
};

void PrintTo(const CorpusChange& change, std::ostream* out) {
  *out << change.name;
}

constexpr std::uint32_t kFirstUnsealed = 2 * kClipsPerSmallShard;

pipeline::BuildRequest tolerant_request() {
  auto request = request_for(recipe_of_small_shards(), 3);
  request.max_rejects.count = 3;
  request.lasting_options = " --max-rejects 3";
  return request;
}

// Clip 5 has no sound.
void interrupt_build(MemoryEnv& env) {
  add_sounds(env, kClips);
  env.add_file(sound_path(5), "no sound");
  TestObserver observer;
  observer.cancel_at = kFirstUnsealed;
  ASSERT_EQ(pipeline::build(env, tolerant_request(), observer).status().code(),
            StatusCode::kCancelled);
}

class Resumed : public ::testing::TestWithParam<CorpusChange> {};

// Sealed work is taken over by content: nothing but the changed clips is decoded, and the bytes are
// those of a build from nothing.
TEST_P(Resumed, DecodesOnlyWhatHasChangedAndEndsAsABuildFromNothing) {
  MemoryEnv env;
  interrupt_build(env);
  GetParam().change(env);
  DecodedSources decoded;
  auto request = tolerant_request();
  request.run.make_decoder = decoded.maker();
  must_build(env, request);
  std::set<std::uint32_t> expected = GetParam().decoded;
  for (std::uint32_t i = kFirstUnsealed; i < kClips; ++i) expected.insert(i);
  EXPECT_EQ(decoded.count(), expected.size());

  request.options.cache = "/elsewhere";
  must_build(env, request);
  EXPECT_EQ(difference(published_files(env, "/elsewhere"), published_files(env)), "");
  EXPECT_EQ(damage_in(env), "");
}

// The same, where a second build is interrupted too, at any clip, and the corpus changes again.
TEST_P(Resumed, AlsoWhenItIsInterruptedAgain) {
  for (std::uint64_t cancel_at : {0U, 7U, 8U, 12U, 16U, 20U}) {
    SCOPED_TRACE("cancelled after " + std::to_string(cancel_at));
    MemoryEnv env;
    interrupt_build(env);
    GetParam().change(env);
    DecodedSources decoded;
    auto request = tolerant_request();
    request.run.thread_count = 1;
    request.run.make_decoder = decoded.maker();
    TestObserver observer;
    observer.cancel_at = cancel_at;
    const auto stopped = pipeline::build(env, request, observer);
    if (stopped.ok()) continue;  // fewer clips
    const std::size_t before = decoded.count();
    env.add_file(kData + "/aaa-first.wav", sound(70));  // every clip moves by one
    must_build(env, request);
    // Beside the new clip, at most the unsealed shard is decoded twice.
    const std::size_t wanted = GetParam().decoded.size() + kClips - kFirstUnsealed + 1;
    EXPECT_LE(decoded.count(), wanted + std::min(before, kClipsPerSmallShard));

    request.options.cache = "/elsewhere";
    must_build(env, request);
    EXPECT_EQ(difference(published_files(env, "/elsewhere"), published_files(env)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Changes, Resumed,
    ::testing::Values(
        CorpusChange{"Nothing", [](MemoryEnv&) {}, {}},
        CorpusChange{"Touched",
                     [](MemoryEnv& env) {
                       for (std::uint32_t i = 0; i < kClips; ++i)
                         env.add_file(sound_path(i), env.contents(sound_path(i)));
                     },
                     {}},
        CorpusChange{"OneClipMoreInFront",
                     [](MemoryEnv& env) { env.add_file(kData + "/before.wav", sound(60)); },
                     {100}},
        CorpusChange{"OneClipMoreBehind",
                     [](MemoryEnv& env) { env.add_file(kData + "/later.wav", sound(60)); },
                     {100}},
        CorpusChange{
            "OneClipGone", [](MemoryEnv& env) { (void)env.remove_file(sound_path(2)); }, {}},
        CorpusChange{"TheBrokenFileIsMended",
                     [](MemoryEnv& env) { env.add_file(sound_path(5), sound(5)); },
                     {5}},
        CorpusChange{
            "OneClipReplaced", [](MemoryEnv& env) { env.add_file(sound_path(9), sound(61)); }, {9}},
        CorpusChange{"OneClipChangedInPlace",
                     [](MemoryEnv& env) { env.change_in_place(sound_path(3), sound(63)); },
                     {3}},
        CorpusChange{"TwoClipsChangePlaces",
                     [](MemoryEnv& env) {
                       env.add_file(sound_path(1), sound(2));
                       env.add_file(sound_path(2), sound(1));
                     },
                     {1, 2}}),
    [](const auto& info) { return info.param.name; });

// Auto lengths may be others with one clip more. A record of all its frames is the same in both.
TEST(ResumedWithAutoLengths, TakesOverWhatWasNotCut) {
  MemoryEnv env;
  add_sounds(env, kClips);
  auto request = request_for(recipe_of_small_shards());
  request.recipe.features->max_frames = formats::RecordLength::of_corpus();
  TestObserver observer;
  observer.cancel_at = kClips;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  env.add_file(kData + "/longer.wav", tone_wav(300.0, {.seconds = 3.0}));
  DecodedSources decoded;
  request.run.make_decoder = decoded.maker();
  must_build(env, request);
  EXPECT_EQ(decoded.count(), 1U);
  request.options.cache = "/elsewhere";
  must_build(env, request);
  EXPECT_EQ(difference(published_files(env, "/elsewhere"), published_files(env)), "");
}

// Two builds of other recipes: the second ends, and leaves the first one's work alone.
TEST(Unfinished, OfAnotherRecipeIsNotRemovedUnasked) {
  MemoryEnv env;
  interrupt_build(env);
  const Files before = files_below(env);
  auto other = tolerant_request();
  other.recipe = recipe_of_small_shards({"features.mel.n_mels=64"});
  const Status refused = run_build(env, other).status();
  EXPECT_EQ(refused.code(), StatusCode::kMismatch);
  EXPECT_NE(refused.message().find("xtts-precompute build /data /cache --max-rejects 3\n"),
            std::string::npos)
      << refused.message();
  EXPECT_NE(refused.message().find("--discard-unfinished"), std::string::npos) << refused.message();
  EXPECT_EQ(difference(before, files_below(env)), "");

  other.options.discard_unfinished = true;
  must_build(env, other);
  other.options.cache = "/elsewhere";
  must_build(env, other);
  EXPECT_EQ(difference(published_files(env, "/elsewhere"), published_files(env)), "");
}

// Sealed work lies there for the build that gets its way, whatever comes between.
void expect_nothing_is_decoded_again(MemoryEnv& env) {
  DecodedSources decoded;
  auto request = tolerant_request();
  request.run.make_decoder = decoded.maker();
  must_build(env, request);
  EXPECT_LE(decoded.count(), kClips - kFirstUnsealed + 1);  // clip 5 may be tried again
  request.options.cache = "/elsewhere";
  must_build(env, request);
  EXPECT_EQ(difference(published_files(env, "/elsewhere"), published_files(env)), "");
}

TEST(Unfinished, IsNotRemovedByABuildWhoseRulesEndIt) {
  for (const std::string seconds : {"0.05", "0.4"}) {  // no clip is left; too many are dropped
    SCOPED_TRACE("at most " + seconds + " s");
    MemoryEnv env;
    interrupt_build(env);
    const Files sealed = files_named(files_below(env), "shards/");
    auto strict = tolerant_request();
    strict.recipe = recipe_of_small_shards({"corpus.max_clip_seconds=" + seconds});
    strict.max_losses.dropped = 0.05;
    for (int attempt = 0; attempt < 2; ++attempt) {
      EXPECT_EQ(run_build(env, strict).status().code(), StatusCode::kTooManyRejects);
      for (const auto& [name, bytes] : sealed) EXPECT_TRUE(env.exists(kCache + "/" + name)) << name;
    }
    expect_nothing_is_decoded_again(env);
  }
}

// Its rules would be those of the next build that names none.
TEST(Unfinished, OfRulesThatLeaveNoClipIsForgotten) {
  MemoryEnv env;
  add_sounds(env, kClips);
  must_build(env, request_for(recipe_of_small_shards()));
  env.add_file(sound_path(5), "no sound");
  const Files before = files_below(env);
  auto strict = tolerant_request();
  strict.recipe = recipe_of_small_shards({"corpus.max_source_seconds=0.05"});
  const Status refused = run_build(env, strict).status();
  EXPECT_EQ(refused.code(), StatusCode::kTooManyRejects);
  for (const char* const reason :
       {"no clip is left to store", "not an audio file", "max_source_seconds"})
    EXPECT_NE(refused.message().find(reason), std::string::npos) << refused.message();
  EXPECT_EQ(difference(before, files_below(env)), "");
}

// The work of a first build lies there through a second one of other rules or lengths. The third
// is asked as the second was, and must not take the first one's work for the second one's.
TEST(Unfinished, KeptWorkOfOtherRulesIsNotTakenForWorkOfThese) {
  MemoryEnv env;
  std::string segments;
  std::string texts;
  for (std::uint32_t i = 10; i < 10 + kClips; ++i) {
    const std::string id = "part" + std::to_string(i);
    segments += id + " talk 0." + std::to_string(i) + " 0.5\n";
    texts += id + " a\n";
  }
  env.add_file(kData + "/talk.wav", sound(4));  // 0.6 s
  env.add_file(kData + "/wav.scp", "talk talk.wav\n");
  env.add_file(kData + "/segments", segments);
  env.add_file(kData + "/text", texts);
  TestObserver observer;
  observer.cancel_at = kFirstUnsealed;
  ASSERT_EQ(pipeline::build(env, tolerant_request(), observer).status().code(),
            StatusCode::kCancelled);
  auto strict = tolerant_request();
  strict.recipe = recipe_of_small_shards({"corpus.max_source_seconds=0.3"});
  EXPECT_EQ(run_build(env, strict).status().code(), StatusCode::kTooManyRejects);
  env.add_file(kData + "/segments", segments + "later talk 0.1 0.4\n");
  env.add_file(kData + "/text", texts + "later a\n");
  EXPECT_EQ(run_build(env, strict).status().code(), StatusCode::kTooManyRejects);
}

TEST(Unfinished, KeptWorkOfShorterRecordsIsNotTakenForWholeOnes) {
  MemoryEnv env;
  add_sounds(env, kClips);
  auto request = tolerant_request();
  std::uint64_t cancel_at = kClips;  // such short records are one shard
  for (const std::string frames : {"20", "200"}) {
    request.recipe =
        recipe_of_small_shards({"features.max_frames=" + frames, "features.too_long=truncate"});
    TestObserver observer;
    observer.cancel_at = std::exchange(cancel_at, 1);
    ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  }
  must_build(env, request);
  request.options.cache = "/elsewhere";
  must_build(env, request);
  EXPECT_EQ(difference(published_files(env, "/elsewhere"), published_files(env)), "");
}

TEST(Unfinished, IsNotRemovedWhileItsClipsAreGone) {
  MemoryEnv env;
  interrupt_build(env);
  for (std::uint32_t i = 0; i < kClipsPerSmallShard; ++i)
    ASSERT_TRUE(env.remove_file(sound_path(i)).ok());
  TestObserver observer;
  observer.cancel_at = 0;
  EXPECT_EQ(pipeline::build(env, tolerant_request(), observer).status().code(),
            StatusCode::kCancelled);
  add_sounds(env, kClips);
  env.add_file(sound_path(5), "no sound");
  expect_nothing_is_decoded_again(env);
}

TEST(Unfinished, OfTheSameRecipeIsBegunAnewWhenAsked) {
  MemoryEnv env;
  interrupt_build(env);
  DecodedSources decoded;
  auto request = tolerant_request();
  request.options.discard_unfinished = true;
  request.run.make_decoder = decoded.maker();
  must_build(env, request);
  EXPECT_EQ(decoded.count(), kClips);
}

// A shard of right checks whose records a forged line tells of as other clips', or of whose size it
// lies: it is not believed, and the clips are computed.
TEST(Unfinished, AForgedJournalIsNotBelieved) {
  MemoryEnv sound;
  interrupt_build(sound);
  must_build(sound, tolerant_request());
  MemoryEnv original;
  interrupt_build(original);
  const std::string journal = original.contents(kCache + "/.build/journal");
  auto parsed = store::read_journal(original, kCache);
  ASSERT_TRUE(parsed.ok() && parsed->head);
  ASSERT_EQ(parsed->shards.size(), 2U);
  using Forge = void (*)(store::JournalContents&);
  const std::vector<Forge> forgeries = {
      [](auto& journal) { std::swap(journal.shards[0].sealed, journal.shards[1].sealed); },
      [](auto& journal) { std::swap(journal.shards[0], journal.shards[1]); },
      [](auto& journal) { journal.shards[0].planned_shard = UINT64_MAX; },
      [](auto& journal) { journal.shards[0].rejects.clear(); },
      [](auto& journal) { journal.shards[0].rejects.push_back(journal.shards[0].rejects[0]); },
      [](auto& journal) { journal.shards[1].rejects = journal.shards[0].rejects; },
      [](auto& journal) { journal.shards[1].sealed.clear(); },
      [](auto& journal) { journal.shards[1].sealed[0].ordinal = UINT64_MAX; },
      [](auto& journal) { journal.shards[1].sealed[0].column = "../../data"; },
      [](auto& journal) { journal.shards[1].sealed[0].store = formats::StoreKind::kHdf5; },
      [](auto& journal) { journal.shards[0].is_kept = true; },
      [](auto& journal) { journal.shards.push_back(journal.shards[0]); },
      [](auto& journal) { journal.head->generation = std::uint64_t{1} << 47U; },
      [](auto& journal) { journal.head->generation = UINT64_MAX; },
      [](auto& journal) { journal.head->about = "{\"recipe\":[]}"; },
      [](auto& journal) { journal.head->about = "not JSON"; },
  };
  for (std::size_t i = 0; i < forgeries.size(); ++i) {
    SCOPED_TRACE("forgery " + std::to_string(i));
    MemoryEnv env;
    interrupt_build(env);
    store::JournalContents forged = *parsed;
    forgeries[i](forged);
    std::string text = store::encode_line(*forged.head);
    for (const auto& shard : forged.shards) text += store::encode_line(shard);
    env.add_file(kCache + "/.build/journal", text);
    TestObserver observer;
    const auto report = pipeline::build(env, tolerant_request(), observer);
    ASSERT_TRUE(report.ok()) << report.status().message();
    const bool is_readable = store::decode_head_line(text.substr(0, text.find('\n'))).has_value();
    EXPECT_EQ(observer.notices().empty(), is_readable);
    EXPECT_EQ(damage_in(env), "");
    if (forged.head->generation == parsed->head->generation) {
      EXPECT_EQ(difference(published_files(sound), published_files(env)), "");
    }
  }
}

// An update that was begun and is no longer wanted: the new clip is gone again.
TEST(Cancelled, AnUpdateThatIsTakenBackLeavesNothingBehind) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  must_build(env, request);
  const Files before = published_files(env);
  for (std::uint32_t i = kClips; i < kClips + 9; ++i) env.add_file(sound_path(i), sound(i));
  TestObserver observer;
  observer.cancel_at = kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  for (std::uint32_t i = kClips; i < kClips + 9; ++i)
    ASSERT_TRUE(env.remove_file(sound_path(i)).ok());
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_EQ(difference(before, published_files(env)), "");
}

// A shard that was sealed and is damaged since (its header, which is what resuming reads) is made
// again, with all that follow.
TEST(Cancelled, ADamagedSealedShardIsMadeAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 2 * kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  const Files sealed = files_named(files_below(env), "shards/mel/");
  ASSERT_EQ(sealed.size(), 2U);
  env.add_file(kCache + "/" + sealed.begin()->first, sealed.begin()->second.substr(0, 5000));
  must_build(env, request);
  EXPECT_EQ(
      difference(files_named(undisturbed(), "shards/"), files_named(files_below(env), "shards/")),
      "");
  EXPECT_EQ(damage_in(env), "");
}

}  // namespace
}  // namespace xtts::testing
