// The rules for odd clips in whole builds: what they drop, what brings it back, and that no change
// of them decodes what is stored.
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "report/reasons.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClipCount = 20;

pipeline::BuildRequest request_of(const std::vector<std::string>& settings) {
  return request_for(recipe_of_small_shards(settings));
}

std::string only_reason(const pipeline::BuildReport& report) {
  return report.rejects.size() == 1
             ? report.rejects[0].id + ": " + report::words_of(report.rejects[0])
             : std::to_string(report.rejects.size()) + " rejects";
}

std::string warnings_at(Env& env, std::uint64_t position) {
  const auto facts = open_cache(env)->details(position);
  return facts ? report::lines_of(facts->warnings) : facts.status().message();
}

MemoryEnv* add_duplicate(MemoryEnv& env) {
  env.add_file(sound_path(13), sound(4));  // shards of eight: the first is in another one
  return &env;
}

const std::string kIsClip4 =
    clip_name(13) + ": the same samples as " + clip_name(4) + ": corpus.duplicates=warn keeps it";

TEST(Duplicates, AreTold) {
  MemoryEnv env;
  add_sounds(env, kClipCount);
  add_duplicate(env);
  const auto report = must_build(env, request_of({}));
  EXPECT_EQ(report.record_count, kClipCount);
  EXPECT_EQ(warnings_at(env, 13), "the same samples as " + clip_name(4));
  EXPECT_EQ(warnings_at(env, 4), "");
}

TEST(Duplicates, CanBeDropped) {
  MemoryEnv env;
  add_sounds(env, kClipCount);
  add_duplicate(env);
  const auto report = must_build(env, request_of({"corpus.duplicates=drop"}));
  EXPECT_EQ(report.record_count, kClipCount - 1);
  EXPECT_EQ(only_reason(report), kIsClip4);
  EXPECT_EQ(damage_in(env), "");
  EXPECT_TRUE(must_build(env, request_of({"corpus.duplicates=drop"})).unchanged);
}

TEST(Duplicates, AreFoundAcrossAnInterruption) {
  MemoryEnv undisturbed;
  add_sounds(undisturbed, kClipCount);
  add_duplicate(undisturbed);
  const auto request = request_of({"corpus.duplicates=drop"});
  must_build(undisturbed, request);

  MemoryEnv env;
  add_sounds(env, kClipCount);
  add_duplicate(env);
  TestObserver observer;
  observer.cancel_at = 9;
  EXPECT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  OpenedSources opened(env);
  EXPECT_EQ(only_reason(must_build(env, request)), kIsClip4);
  EXPECT_FALSE(opened.take().contains(clip_name(4) + ".wav"));  // its shard was sealed
  EXPECT_EQ(difference(published_files(undisturbed), published_files(env)), "");
}

TEST(Duplicates, AreFoundAmongWhatIsPublished) {
  MemoryEnv env;
  add_sounds(env, kClipCount);
  const auto request = request_of({"corpus.duplicates=drop"});
  must_build(env, request);
  add_duplicate(env);
  EXPECT_EQ(only_reason(must_build(env, request)), kIsClip4);
  EXPECT_EQ(damage_in(env), "");
}

TEST(Duplicates, TakeThePlaceOfTheClipThatIsGone) {
  MemoryEnv env;
  add_sounds(env, kClipCount);
  add_duplicate(env);
  const auto request = request_of({"corpus.duplicates=drop"});
  must_build(env, request);
  ASSERT_TRUE(env.remove_file(sound_path(4)).ok());
  const auto report = must_build(env, request);
  EXPECT_TRUE(report.rejects.empty());
  EXPECT_EQ(report.record_count, kClipCount - 1);
}

// The clip that an interrupted build judged against is gone when it goes on.
TEST(Duplicates, OfAClipThatGoesWhileTheBuildRestsAreJudgedAgain) {
  MemoryEnv env;
  env.add_file(sound_path(0), sound(0));
  env.add_file(sound_path(3), sound(3));
  auto request = request_of({"corpus.duplicates=drop"});
  must_build(env, request);
  env.add_file(sound_path(1), sound(0));
  env.add_file(sound_path(2), "no sound");
  request.max_rejects.count = 0;
  EXPECT_EQ(run_build(env, request).status().code(), StatusCode::kTooManyRejects);
  ASSERT_TRUE(env.remove_file(sound_path(0)).ok());
  request.max_rejects.count = 1;
  must_build(env, request);
  EXPECT_EQ(stored_ids(env), (std::vector<std::string>{clip_name(1), clip_name(3)}));
}

TEST(Rules, AreChangedWithoutDecodingWhatIsStored) {
  MemoryEnv env;
  add_sounds(env, kClipCount);
  add_duplicate(env);
  const WavShape second{.seconds = 1.0, .rate_hz = 8000, .channel_count = 1};
  env.add_file(sound_path(6), tone_wav(300.0, second));
  must_build(env, request_of({}));

  OpenedSources opened(env);
  const auto strict = request_of(
      {"corpus.duplicates=drop", "corpus.low_rate=drop", "corpus.source_rate_below=16000"});
  auto report = must_build(env, strict);
  EXPECT_EQ(opened.take(), std::set<std::string>());
  ASSERT_EQ(report.rejects.size(), 2U);
  EXPECT_EQ(report::words_of(report.rejects[0]),
            "low sample rate: 8000 Hz: corpus.low_rate=warn keeps it");
  EXPECT_EQ(report.record_count, kClipCount - 2);
  EXPECT_EQ(damage_in(env), "");

  report = must_build(env, request_of({"corpus.source_rate_below=16000"}));
  EXPECT_EQ(opened.take(), (std::set<std::string>{clip_name(6) + ".wav", clip_name(13) + ".wav"}));
  EXPECT_EQ(report.record_count, kClipCount);
  EXPECT_EQ(warnings_at(env, 6), "low sample rate: 8000 Hz");
  EXPECT_EQ(damage_in(env), "");

  must_build(env, request_of({"corpus.low_rate=keep"}));
  EXPECT_EQ(opened.take(), std::set<std::string>());
  EXPECT_EQ(warnings_at(env, 6), "");
}

// A third of these sources has the recipe's 22,050 Hz.
TEST(Rules, RefuseOtherRatesIfAsked) {
  MemoryEnv env;
  add_sounds(env, 6);
  auto request = request_of({"resampler=refuse"});
  request.max_rejects.count = 4;
  const auto report = must_build(env, request);
  EXPECT_EQ(stored_ids(env), (std::vector<std::string>{clip_name(0), clip_name(3)}));
  ASSERT_EQ(report.rejects.size(), 4U);
  EXPECT_EQ(report.rejects[0].kind, formats::RejectClass::kPolicy);
  EXPECT_EQ(
      report::words_of(report.rejects[0]),
      "16000 Hz, and the recipe takes 22050 Hz alone: features.resampler=soxr_hq resamples it");
  EXPECT_EQ(damage_in(env), "");
}

// Under the same rules as a cache made from nothing, an index says the same.
TEST(Rules, LeaveTheFactsAsOfACacheMadeFromNothing) {
  MemoryEnv changed, fresh;
  for (MemoryEnv* env : {&changed, &fresh}) add_sounds(*env, kClipCount);
  const auto later = request_of({"corpus.source_rate_below=20000"});
  must_build(changed, request_of({"corpus.source_rate_below=30000"}));
  must_build(changed, later);
  must_build(fresh, later);
  for (std::uint64_t i = 0; i < kClipCount; ++i)
    EXPECT_EQ(*open_cache(changed)->details(i), *open_cache(fresh)->details(i)) << i;
}

TEST(Rules, SayWhatToDoWithClipsWithoutAText) {
  MemoryEnv env;
  add_sounds(env, kClipCount, kData + "/wavs");
  add_list(env, kClipCount, {{5, ""}});
  const auto warned = must_build(env, request_of({}));
  EXPECT_EQ(warned.record_count, kClipCount);
  EXPECT_EQ(warnings_at(env, 5), "no text");
  const auto dropped = must_build(env, request_of({"corpus.no_text=drop"}));
  EXPECT_EQ(only_reason(dropped), clip_name(5) + ": no text: corpus.no_text=warn keeps it");
  EXPECT_EQ(damage_in(env), "");
}

TEST(Rules, SilenceIsKeptWithAWordOrDropped) {
  MemoryEnv env;
  add_sounds(env, kClipCount);
  env.add_file(sound_path(3), wav_file({}, std::vector<std::int16_t>(11025)));
  must_build(env, request_of({}));
  EXPECT_EQ(warnings_at(env, 3), "silent");
  EXPECT_EQ(only_reason(must_build(env, request_of({"corpus.silent=drop"}))),
            clip_name(3) + ": silent: corpus.silent=warn keeps it");
}

// Clip 2 is cut in half, and clip 5, which has no text, too.
void add_cut_sounds(MemoryEnv& env, std::uint32_t count = kClipCount) {
  add_sounds(env, count, kData + "/wavs");
  add_list(env, count, {{5, ""}});
  for (const std::uint32_t i : {2U, 5U}) {
    const std::string whole = sound(i);
    env.add_file(sound_path(i, kData + "/wavs"), whole.substr(0, whole.size() / 2));
  }
}

pipeline::BuildRequest request_of_cuts(const std::string& action) {
  auto request = request_of({"corpus.no_text=keep", "corpus.truncated=" + action});
  request.max_rejects.share = 0.2;
  return request;
}

// Of clips 2 and 5: "stored", "warned", or the class of the reject.
std::string fates_of_cuts(MemoryEnv& env, const pipeline::BuildReport& report) {
  std::string fates;
  for (const std::uint32_t i : {2U, 5U}) {
    const auto reject = std::ranges::find(report.rejects, clip_name(i), &formats::Reject::id);
    const auto position = open_cache(env)->find(clip_name(i));
    if (reject != report.rejects.end()) fates += std::string(to_string(reject->kind)) + " ";
    if (!position.ok() || !*position) continue;
    fates += warnings_at(env, **position).empty() ? "stored " : "warned ";
  }
  return fates;
}

struct CutFate {
  const char* action;
  const char* fates;
};
const CutFate kCutFates[] = {{"auto", "input warned "},
                             {"keep", "stored stored "},
                             {"warn", "warned warned "},
                             {"drop", "policy policy "},
                             {"reject", "input input "}};

// Each value after each other one: the update ends as a build from nothing.
TEST(CutClips, AreJudgedAnewWhenTheRuleChanges) {
  for (const CutFate& before : kCutFates) {
    for (const CutFate& after : kCutFates) {
      if (&after == &before) continue;
      MemoryEnv env, fresh;
      add_cut_sounds(env);
      add_cut_sounds(fresh);
      EXPECT_EQ(fates_of_cuts(env, must_build(env, request_of_cuts(before.action))), before.fates);
      const auto report = must_build(env, request_of_cuts(after.action));
      EXPECT_EQ(fates_of_cuts(env, report), after.fates) << "after " << before.action;
      must_build(fresh, request_of_cuts(after.action));
      const auto changed = open_cache(env);
      const auto made = open_cache(fresh);
      ASSERT_EQ(changed->size(), made->size());
      for (std::uint64_t i = 0; i < made->size(); ++i) {
        const auto facts = made->details(i);
        const auto position = changed->find(*facts->id);
        EXPECT_EQ(*changed->details(**position), *facts) << before.action << ", " << after.action;
      }
      EXPECT_EQ(changed->rejects_jsonl().value(), made->rejects_jsonl().value());
      EXPECT_EQ(damage_in(env), "");
      EXPECT_TRUE(must_build(env, request_of_cuts(after.action)).unchanged);
    }
  }
}

// With auto, the text decides: a new one makes a stored clip a false pair, and the other way round.
TEST(CutClips, AreJudgedAnewWhenTheirTextChanges) {
  MemoryEnv env;
  add_cut_sounds(env);
  must_build(env, request_of_cuts("auto"));
  add_list(env, kClipCount, {{2, ""}});
  EXPECT_EQ(fates_of_cuts(env, must_build(env, request_of_cuts("auto"))), "warned input ");
  EXPECT_EQ(damage_in(env), "");
}

TEST(CutClips, CountAsDroppedOrRejected) {
  for (const auto& [action, option] :
       {std::pair("drop", "--max-dropped"), std::pair("reject", "--max-rejects")}) {
    MemoryEnv env;
    add_cut_sounds(env, 10);
    auto request = request_of_cuts(action);
    request.max_rejects.share = 0.05;
    request.max_losses.dropped = 0.05;
    const auto built = run_build(env, request);
    ASSERT_FALSE(built.ok()) << action;
    EXPECT_EQ(built.status().code(), StatusCode::kTooManyRejects);
    EXPECT_NE(built.status().message().find(option), std::string::npos) << built.status().message();
    EXPECT_NE(built.status().message().find("corpus.truncated=warn"), std::string::npos)
        << built.status().message();
  }
}

}  // namespace
}  // namespace xtts::testing
