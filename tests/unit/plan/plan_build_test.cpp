// A plan, its parts built apart and merged, are the cache that one build makes, byte for byte. What
// does not fit the plan is refused by name, before anything is computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "../maintain/grown_cache.hpp"
#include "formats/part_file.hpp"
#include "pipeline/planned_part.hpp"
#include "planned.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A corpus, and what one build makes of it.
struct Scene {
  std::string name;
  std::function<void(MemoryEnv&)> add_data;
  std::function<pipeline::BuildRequest()> request;
  std::uint32_t part_count = 3;
};

void PrintTo(const Scene& scene, std::ostream* out) {
  *out << scene.name;
}

// A Kaldi folder: two recordings and their segments, some of which end before they begin.
void add_talks(MemoryEnv& env) {
  std::string segments;
  std::string text;
  std::string speakers;
  for (const std::string talk : {"talk-a", "talk-b"}) {
    env.add_file(kData + "/" + talk + ".wav", tone_wav(300.0, {.seconds = 6.0}));
    for (int i = 0; i < 13; ++i) {
      const std::string id = talk + "-" + std::to_string(i);
      const double begin = 0.4 * i;
      segments += id + " " + talk + " " + std::to_string(begin) + " " +
                  std::to_string(i == 5 ? begin - 0.1 : begin + 0.35) + "\n";
      text += id + " Segment " + std::to_string(i) + (i == 7 ? std::string(300, 'x') : "") + ".\n";
      speakers += id + " " + talk + "\n";
    }
  }
  env.add_file(kData + "/wav.scp", "talk-a talk-a.wav\ntalk-b talk-b.wav\n");
  env.add_file(kData + "/segments", segments);
  env.add_file(kData + "/text", text);
  env.add_file(kData + "/utt2spk", speakers);
}

pipeline::BuildRequest lenient(const std::vector<std::string>& settings = {}) {
  auto request = grown_request(settings);
  request.max_losses.dropped = 1.0;
  return request;
}

void add_two_corpora(MemoryEnv& env) {
  add_listed_sounds(env, 11);
  env.add_file(kData + "/metadata.csv",
               env.contents(kData + "/metadata.csv") + "lost|No sound.|No sound.\n");
  add_sounds(env, 9, "/other");
  env.add_file("/corpora.yaml", "the request has what it says");
}

pipeline::BuildRequest request_of_two_corpora() {
  auto request = lenient();
  request.data.path = "/corpora.yaml";
  for (const auto& [name, folder] : {std::pair("first", kData), {"second", "/other"}}) {
    auto& entry = request.corpora.emplace_back();
    entry.name = name;
    entry.folder = folder;
  }
  request.corpora.back().language = "de";
  return request;
}

// Ids that are there twice, in one list and in two.
void add_ids_twice(MemoryEnv& env) {
  add_listed_sounds(env, 20);
  (void)env.remove_file(kData + "/metadata.csv");
  const auto row = [](std::uint32_t number, const std::string& text) {
    return clip_name(number) + "\twavs/" + clip_name(number) + ".wav\t" + text + "\n";
  };
  std::string train = "id\taudio\ttext\n";
  std::string validation = train;
  for (std::uint32_t i = 0; i < 20; ++i) (i < 12 ? train : validation) += row(i, "Sentence.");
  train += row(3, "Again.");
  validation += row(5, "Again.") + row(15, "Again.");
  env.add_file(kData + "/train.tsv", train);
  env.add_file(kData + "/validation.tsv", validation);
}

// An id that is there twice in each of two corpora is four clips' names, of which two are used.
void add_corpora_with_ids_twice(MemoryEnv& env) {
  add_ids_twice(env);
  for (const auto& [path, bytes] : files_below(env, kData)) env.add_file("/other/" + path, bytes);
  env.add_file("/corpora.yaml", "the request has what it says");
}

void add_plain_sounds(MemoryEnv& env) {
  add_sounds(env, 20);
  env.add_file(kData + "/odd.wav", "");
}

class PlannedParts : public ::testing::TestWithParam<Scene> {};

TEST_P(PlannedParts, MergeToTheBytesOfOneBuild) {
  const Scene& scene = GetParam();
  MemoryEnv env;
  scene.add_data(env);
  const auto planned = plan::make_plan(env, plan_request(scene.request(), scene.part_count));
  ASSERT_TRUE(planned.ok()) << planned.status().message();
  EXPECT_FALSE(env.exists(kPlan + "/.build"));
  const auto caches = build_all_parts(env, scene.part_count);
  std::uint64_t planned_count = 0;
  for (const auto& cache : caches) {
    EXPECT_EQ(damage_in(env, cache), "");
    const auto opened = open_cache(env, cache);
    const auto& manifest = opened->manifest();
    planned_count += manifest.counts.planned;
    EXPECT_EQ(manifest.partition->plan, planned->plan.clips);
  }
  EXPECT_EQ(planned_count, planned->plan.clip_count());
  const auto merged = merge_parts(env, caches);
  ASSERT_TRUE(merged.ok()) << merged.status().message();

  MemoryEnv whole;
  scene.add_data(whole);
  must_build(whole, scene.request());
  EXPECT_EQ(difference(published_files(whole), published_files(env, kMerged)), "");
}

// As --partition deals: the parts of both are the same, but for the rejects that each repeats.
TEST(PlannedPart, HoldsTheClipsOfItsPartition) {
  MemoryEnv env;
  add_grown_data(env);
  const auto planned = plan::make_plan(env, plan_request(grown_request(), 3));
  ASSERT_TRUE(planned.ok()) << planned.status().message();
  for (std::uint32_t index = 1; index <= 3; ++index) {
    ASSERT_TRUE(build_part(env, index).ok());
    auto request = grown_request();
    request.options.cache = "/partition";
    request.options.overwrite = true;
    request.partition = {.index = index, .count = 3};
    must_build(env, request);
    EXPECT_EQ(stored_ids(env, "/partition"), stored_ids(env, part_cache(index))) << index;
    EXPECT_EQ(open_cache(env, "/partition")->manifest().partition->plan, planned->plan.clips);
  }
}

TEST(PlannedPart, NeedsNoListsAndNoHashingAfterwards) {
  MemoryEnv env;
  add_grown_data(env);
  ASSERT_TRUE(plan::make_plan(env, plan_request(grown_request(), 2)).ok());
  const std::string list = env.contents(kData + "/metadata.csv");
  ASSERT_TRUE(env.remove_file(kData + "/metadata.csv").ok());
  ASSERT_TRUE(merge_parts(env, build_all_parts(env, 2)).ok());
  env.add_file(kData + "/metadata.csv", list);
  auto request = grown_request();
  request.options.cache = kMerged;
  OpenedSources opened(env);
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_TRUE(opened.take().empty());
}

TEST(PlannedPart, IsDoneOnceAndGoesOnWhereItWasInterrupted) {
  MemoryEnv env;
  add_grown_data(env);
  ASSERT_TRUE(plan::make_plan(env, plan_request(grown_request(), 1)).ok());
  auto request = part_request(env, 1);
  ASSERT_TRUE(request.ok());
  TestObserver observer;
  observer.cancel_at = 12;
  EXPECT_EQ(pipeline::build(env, *request, observer).status().code(), StatusCode::kCancelled);
  OpenedSources opened(env);
  must_build(env, *request);
  EXPECT_LT(opened.take().size(), 15U) << "a sealed shard is not made again";
  EXPECT_TRUE(must_build(env, *request).unchanged);
  EXPECT_THAT(opened.take(), ::testing::IsEmpty());
  ASSERT_TRUE(merge_parts(env, {part_cache(1)}).ok());
  EXPECT_EQ(difference(built_from_nothing(), published_files(env, kMerged)), "");
}

TEST(PlannedPart, TakesSourcesThatLieElsewhere) {
  MemoryEnv env;
  add_grown_data(env);
  ASSERT_TRUE(plan::make_plan(env, plan_request(grown_request(), 1)).ok());
  for (const auto& [path, bytes] : files_below(env, kData)) {
    env.add_file("/node/" + path, bytes);
    ASSERT_TRUE(env.remove_file(kData + "/" + path).ok());
  }
  const auto report = build_part(env, 1, {.data = "/node", .max_rejects = "1"});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_TRUE(merge_parts(env, {part_cache(1)}).ok());
  EXPECT_EQ(difference(built_from_nothing(), published_files(env, kMerged)), "");
}

TEST(PlannedPart, TellsSourcesThatHaveChangedAndRejectsThoseThatAreGone) {
  MemoryEnv env;
  add_listed_sounds(env, 6);
  ASSERT_TRUE(plan::make_plan(env, plan_request(grown_request(), 1)).ok());
  env.add_file(listed_wav(2), sound(1));
  ASSERT_TRUE(env.remove_file(listed_wav(4)).ok());
  auto request = part_request(env, 1, {.max_rejects = "1"});
  ASSERT_TRUE(request.ok());
  TestObserver observer;
  const auto report = pipeline::build(env, *request, observer);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(observer.notices(), ElementsAre(HasSubstr("1 source has another size than the plan "
                                                        "says (the first: wavs/clip-0002.wav)")));
  ASSERT_EQ(report->rejects.size(), 1U);
  EXPECT_EQ(report->rejects.front().id, clip_name(4));
  EXPECT_EQ(report->record_count, 5U);
}

// One fault of 20 clips is within 5 % of all, though it is 12 % of its part.
TEST(PlannedPart, CountsLossesOverAllParts) {
  MemoryEnv env;
  add_listed_sounds(env, 20);
  env.add_file(listed_wav(3), "no sound");
  auto strict = grown_request();
  strict.max_rejects.share = 0.05;
  ASSERT_TRUE(plan::make_plan(env, plan_request(strict, 3)).ok());
  for (std::uint32_t index = 1; index <= 3; ++index) {
    const auto report = build_part(env, index, {});
    EXPECT_TRUE(report.ok()) << report.status().message();
  }
}

// Two faults of 20 clips are more than 5 %.
TEST(PlannedPart, IsBuiltWithTheLimitsOfThePlan) {
  MemoryEnv env;
  add_listed_sounds(env, 20);
  env.add_file(listed_wav(3), "no sound");
  env.add_file(listed_wav(4), "no sound");
  auto request = plan_request(grown_request(), 1);
  request.build.options.max_rejects = "2";
  request.build.options.max_dropped = "20%";
  ASSERT_TRUE(plan::make_plan(env, request).ok());
  const auto usual = part_request(env, 1, {});
  ASSERT_TRUE(usual.ok());
  EXPECT_EQ(usual->max_rejects.count, 2U);
  EXPECT_DOUBLE_EQ(usual->max_losses.dropped, 0.2);
  const auto given = part_request(env, 1, {.max_rejects = "1", .max_dropped = "30%"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->max_rejects.count, 1U);
  EXPECT_DOUBLE_EQ(given->max_losses.dropped, 0.3);
  EXPECT_EQ(build_part(env, 1, {.max_rejects = "1"}).status().code(), StatusCode::kTooManyRejects);
  EXPECT_TRUE(build_part(env, 1, {}).ok());
}

struct PartRefusal {
  std::string name;
  std::function<Status(MemoryEnv&)> build;
  StatusCode code;
  std::string message;
};

void PrintTo(const PartRefusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

Status status_of(MemoryEnv& env, const BuildOptions& options) {
  return build_part(env, 1, options).status();
}

// Plans for another machine.
Status build_elsewhere(MemoryEnv& env, const std::function<void(formats::Plan&)>& change) {
  const std::string path = kPlan + "/plan.json";
  auto changed = formats::decode_plan(env.contents(path));
  if (!changed) return changed.status();
  change(*changed);
  env.add_file(path, formats::encode_plan(*changed));
  return build_part(env, 1).status();
}

class PartRefuses : public ::testing::TestWithParam<PartRefusal> {};

TEST_P(PartRefuses, BeforeItComputes) {
  MemoryEnv env;
  add_grown_data(env);
  ASSERT_TRUE(plan::make_plan(env, plan_request(grown_request(), 2)).ok());
  OpenedSources opened(env);
  const Status status = GetParam().build(env);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
  EXPECT_TRUE(opened.take().empty());
  EXPECT_FALSE(env.exists(part_cache(1)));
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, PlannedParts,
    ::testing::Values(
        Scene{"One", add_grown_data, [] { return lenient(); }, 1},
        Scene{"Three", add_grown_data, [] { return lenient(); }},
        Scene{"MoreThanShards", add_grown_data, [] { return lenient(); }, 9},
        Scene{"Hdf5", add_grown_data, [] { return lenient({"storage.store=hdf5"}); }},
        Scene{"WithoutTokens", add_grown_data, [] { return lenient({"text.tokens=none"}); }},
        Scene{"WithoutTexts", add_grown_data,
              [] {
                auto request = lenient();
                request.recipe.text.store = false;
                return request;
              }},
        Scene{"LengthsOfTheCorpus", add_grown_data,
              [] {
                return lenient({"features.max_frames=auto", "text.max_tokens=auto"});
              }},
        Scene{"Segments", add_talks, [] { return lenient(); }},
        Scene{"Speakers", add_talks,
              [] {
                auto request = lenient();
                request.known_speakers = {"nobody", "talk-b"};
                return request;
              }},
        Scene{"SeveralCorpora", add_two_corpora, request_of_two_corpora},
        Scene{"IdsTwice", add_ids_twice, [] { return lenient(); }},
        Scene{"IdsTwiceInSeveralCorpora", add_corpora_with_ids_twice, request_of_two_corpora},
        Scene{"PlainFolder", add_plain_sounds, [] { return lenient(); }},
        Scene{"LongClipsAreSplit", add_talks,
              [] {
                return lenient({"features.too_long=split", "features.max_frames=64"});
              }},
        Scene{"Splits", add_grown_data,
              [] {
                return lenient({"corpus.train_split=0.4", "corpus.validation_split=0.4"});
              }},
        Scene{"FewMayValidate", add_grown_data,
              [] {
                return lenient({"corpus.train_split=0.4", "corpus.validation_split=0.6",
                                "corpus.validation_clips_max=3"});
              }},
        Scene{"SplitsBySpeaker", add_talks,
              [] {
                return lenient({"corpus.train_split=0.5", "corpus.validation_split=0.5",
                                "corpus.split_by=speaker", "corpus.validation_clips_max=14"});
              }},
        Scene{"SubsetOfTraining", add_grown_data,
              [] { return lenient({"corpus.train_subset_fraction=0.5"}); }},
        Scene{"SpeakersByPattern", add_grown_data,
              [] { return lenient({"corpus.speaker_pattern=clip-(..)"}); }},
        Scene{"NoClipIsLeft", add_grown_data, [] { return lenient(); }, 40}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Reasons, PartRefuses,
    ::testing::Values(
        PartRefusal{"ARecipe", [](auto& env) { return status_of(env, {.recipe = "tacotron2"}); },
                    StatusCode::kInvalidArgument, "--recipe is decided by the plan"},
        PartRefusal{"ASetting",
                    [](auto& env) { return status_of(env, {.settings = {"max_frames=3"}}); },
                    StatusCode::kInvalidArgument, "--set KEY=VALUE is decided by the plan"},
        PartRefusal{"AnIsa", [](auto& env) { return status_of(env, {.isa = "scalar"}); },
                    StatusCode::kInvalidArgument, "--isa is decided by the plan"},
        PartRefusal{"OtherLibraries",
                    [](auto& env) {
                      return build_elsewhere(
                          env, [](auto& plan) { plan.numerics.libraries = "libsoxr 9"; });
                    },
                    StatusCode::kMismatch, "/plan/0001 was planned for cpu "},
        PartRefusal{"AnotherPlan",
                    [](auto& env) {
                      return build_elsewhere(env, [](auto& plan) { plan.clips.low ^= 1U; });
                    },
                    StatusCode::kMismatch, "/plan/0001 is not the part that plan.json"},
        PartRefusal{"AnotherNumberOfClips",
                    [](auto& env) {
                      return build_elsewhere(env, [](auto& plan) {
                        plan.parts.front().clip_count = std::uint64_t{1} << 62U;
                      });
                    },
                    StatusCode::kMismatch, "/plan/0001 is not the part that plan.json"},
        PartRefusal{"MoreClipsThanAFileOfItsSizeHolds",
                    [](auto& env) {
                      const std::uint64_t clip_count = std::uint64_t{1} << 62U;
                      std::string bytes = env.contents(part_file(1));
                      auto head = formats::decode_part_head(std::as_bytes(std::span(bytes)));
                      head->clip_count = clip_count;
                      bytes.replace(0, formats::kPartHeadBytes, formats::encode_part_head(*head));
                      env.add_file(part_file(1), bytes);
                      return build_elsewhere(env, [clip_count](auto& plan) {
                        plan.parts.front().clip_count = clip_count;
                      });
                    },
                    StatusCode::kMismatch, "/plan/0001 is not the part that plan.json"},
        PartRefusal{"APartThatIsCutShort",
                    [](auto& env) {
                      const std::string bytes = env.contents(part_file(1));
                      env.add_file(part_file(1), bytes.substr(0, bytes.size() - 1));
                      return status_of(env, {});
                    },
                    StatusCode::kMismatch, "/plan/0001 is not the part that plan.json"},
        PartRefusal{"ADamagedPart",
                    [](auto& env) {
                      std::string bytes = env.contents(part_file(1));
                      bytes.back() = static_cast<char>(bytes.back() ^ 1);
                      env.add_file(part_file(1), bytes);
                      return status_of(env, {});
                    },
                    StatusCode::kCorrupt, "chunk 0 of the part: check does not match"},
        PartRefusal{"ADamagedPlan",
                    [](auto& env) {
                      std::string bytes = env.contents(kPlan + "/plan.json");
                      bytes[30] = static_cast<char>(bytes[30] ^ 1);
                      env.add_file(kPlan + "/plan.json", bytes);
                      return status_of(env, {});
                    },
                    StatusCode::kCorrupt, "/plan/plan.json: "},
        PartRefusal{"NoPlan",
                    [](auto& env) {
                      (void)env.remove_file(kPlan + "/plan.json");
                      return status_of(env, {});
                    },
                    StatusCode::kNotFound, "there is no plan in /plan"},
        PartRefusal{"NoSuchPart", [](auto& env) { return build_part(env, 3).status(); },
                    StatusCode::kNotFound, "/plan/0003 is no part of its plan"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Plan, IsTheSameForTheSameQuestion) {
  MemoryEnv env;
  add_grown_data(env);
  const auto request = plan_request(grown_request(), 2);
  ASSERT_TRUE(plan::make_plan(env, request).ok());
  const Files before = files_below(env, kPlan);
  const auto again = plan::make_plan(env, request);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->unchanged);
  auto other = plan_request(grown_request(), 3);
  const auto refused = plan::make_plan(env, other);
  EXPECT_EQ(refused.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(refused.status().message(),
              HasSubstr("/plan holds another plan, of /data in 2 parts"));
  EXPECT_EQ(difference(before, files_below(env, kPlan)), "");
  other.part_count = 1;
  other.overwrite = true;
  ASSERT_TRUE(plan::make_plan(env, other).ok());
  EXPECT_THAT(files_below(env, kPlan),
              ElementsAre(::testing::Key("0001"), ::testing::Key("plan.json")));
}

TEST(Plan, IsReplacedOnlyWhenAskedAlsoIfItIsDamaged) {
  MemoryEnv env;
  add_grown_data(env);
  auto request = plan_request(grown_request(), 2);
  ASSERT_TRUE(plan::make_plan(env, request).ok());
  const Files whole = files_below(env, kPlan);
  env.add_file(kPlan + "/plan.json", "a user's own plan");
  const Files before = files_below(env, kPlan);
  const auto refused = plan::make_plan(env, request);
  EXPECT_EQ(refused.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(refused.status().message(), HasSubstr("/plan/plan.json"));
  EXPECT_THAT(refused.status().message(), HasSubstr("--overwrite"));
  EXPECT_EQ(difference(before, files_below(env, kPlan)), "");
  request.overwrite = true;
  ASSERT_TRUE(plan::make_plan(env, request).ok());
  EXPECT_EQ(difference(whole, files_below(env, kPlan)), "");
}

TEST(Plan, StaysWhereAnotherFails) {
  MemoryEnv env;
  add_grown_data(env);
  auto request = plan_request(grown_request(), 2);
  ASSERT_TRUE(plan::make_plan(env, request).ok());
  const Files before = files_below(env, kPlan);
  (void)env.remove_file(listed_wav(11));
  request.overwrite = true;
  request.build.max_rejects = {.count = 0};
  EXPECT_EQ(plan::make_plan(env, request).status().code(), StatusCode::kTooManyRejects);
  EXPECT_EQ(difference(before, files_below(env, kPlan)), "");
}

TEST(Plan, LeavesNoPartWhereTheDiskIsFull) {
  MemoryEnv env;
  add_grown_data(env);
  env.set_hook([](EnvOperation& operation) {
    const bool is_part = operation.call == EnvCall::kAppend && operation.path == part_file(2);
    return is_part ? Status(StatusCode::kResource, "disk full") : Status();
  });
  EXPECT_EQ(plan::make_plan(env, plan_request(grown_request(), 3)).status().code(),
            StatusCode::kResource);
  EXPECT_FALSE(env.exists(kPlan));
}

TEST(Plan, RefusesAFolderOfOtherThings) {
  MemoryEnv env;
  add_grown_data(env);
  env.add_file(kPlan + "/notes.txt", "mine");
  const auto refused = plan::make_plan(env, plan_request(grown_request(), 2));
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("notes.txt"));
  EXPECT_THAT(files_below(env, kPlan), ElementsAre(::testing::Key("notes.txt")));
}

// A part would take the name of one of these files, and the other is no part of any plan.
TEST(Plan, RefusesFilesThatUsersNamedByDigits) {
  for (const std::string name : {"0001", "20231105"}) {
    for (const bool has_plan : {false, true}) {
      MemoryEnv env;
      add_grown_data(env);
      auto request = plan_request(grown_request(), 2);
      if (has_plan) ASSERT_TRUE(plan::make_plan(env, request).ok());
      env.add_file(kPlan + "/" + name, "important");
      const Files before = files_below(env, kPlan);
      request.overwrite = true;
      const auto refused = plan::make_plan(env, request);
      EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(refused.status().message(), HasSubstr(name));
      EXPECT_EQ(difference(before, files_below(env, kPlan)), "");
    }
  }
}

// Neither plan.json nor the mark says that a planner wrote here.
TEST(Plan, RefusesPartsWithoutTheirPlan) {
  MemoryEnv env;
  add_grown_data(env);
  ASSERT_TRUE(plan::make_plan(env, plan_request(grown_request(), 2)).ok());
  ASSERT_TRUE(env.remove_file(kPlan + "/plan.json").ok());
  const Files before = files_below(env, kPlan);
  EXPECT_EQ(plan::make_plan(env, plan_request(grown_request(), 3)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(difference(before, files_below(env, kPlan)), "");
}

TEST(Plan, RefusesAFileThatCameWhileItListed) {
  MemoryEnv env;
  add_grown_data(env);
  auto request = plan_request(grown_request(), 2);
  request.build.run.cancelled = [&] {
    env.add_file(kPlan + "/0001", "important");
    return false;
  };
  EXPECT_EQ(plan::make_plan(env, request).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(env.contents(kPlan + "/0001"), "important");
}

TEST(Plan, RefusesTheFolderOfAnUnfinishedBuild) {
  MemoryEnv env;
  add_grown_data(env);
  auto build = grown_request();
  build.options.cache = kPlan;
  TestObserver observer;
  observer.cancel_at = 0;
  EXPECT_FALSE(pipeline::build(env, build, observer).ok());
  const Files before = files_below(env, kPlan);
  ASSERT_TRUE(before.contains(".build/journal"));
  const auto refused = plan::make_plan(env, plan_request(grown_request(), 2));
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(difference(before, files_below(env, kPlan)), "");
}

TEST(Plan, RefusesLossesAndDroppedDuplicatesAsABuildDoes) {
  MemoryEnv env;
  add_grown_data(env);
  (void)env.remove_file(listed_wav(11));
  auto strict = grown_request();
  strict.max_rejects = {.count = 0};
  EXPECT_EQ(plan::make_plan(env, plan_request(strict, 2)).status().code(),
            StatusCode::kTooManyRejects);
  EXPECT_EQ(plan::make_plan(env, plan_request(grown_request({"corpus.duplicates=drop"}), 2))
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  EXPECT_FALSE(env.exists(kPlan));
}

TEST(Plan, RefusesASecondPlanner) {
  MemoryEnv env;
  add_grown_data(env);
  auto request = plan_request(grown_request(), 2);
  std::optional<Status> second;
  request.build.run.cancelled = [&] {
    if (!second) {
      second.emplace();
      second = plan::make_plan(env, plan_request(grown_request(), 2)).status();
    }
    return false;
  };
  ASSERT_TRUE(plan::make_plan(env, request).ok());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->code(), StatusCode::kBusy);
}

// Rows that do not fit into memory are sorted in runs, and give the same files.
TEST(Plan, IsTheSameInLittleMemory) {
  MemoryEnv env;
  env.add_file(kData + "/talk.wav", tone_wav(300.0, {.seconds = 0.1}));
  std::string list = "audio\tstart\tend\ttext\tspeaker\n";
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    const std::string begin = std::to_string(i * 7919 % 30'000);  // ids are in no order
    list += "talk.wav\t" + begin + "\t" + begin + ".5\tSentence " + begin + ".\tspeaker " +
            std::to_string(i % 50) + "\n";
  }
  list += "talk.wav\t17\t17.5\tAgain.\tspeaker 1\n";
  env.add_file(kData + "/metadata.tsv", list);
  auto request = plan_request(
      lenient({"corpus.layout=table", "corpus.validation_split=0.1", "corpus.train_split=0.9"}), 5);
  const auto planned = plan::make_plan(env, request);
  ASSERT_TRUE(planned.ok()) << planned.status().message();
  EXPECT_EQ(planned->plan.clip_count(), 30'000U);
  EXPECT_EQ(planned->plan.reject_count(), 1U);
  EXPECT_EQ(planned->plan.clips_by_split.at("validation"), 2000U);
  const Files expected = files_below(env, kPlan);
  request.build.run.memory_bytes = std::uint64_t{4} << 20U;
  request.overwrite = true;
  std::uint64_t scratch_bytes = 0;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kAppend && operation.path.ends_with("clips.tmp"))
      scratch_bytes += operation.size_bytes;
    return Status();
  });
  const auto again = plan::make_plan(env, request);
  env.set_hook({});
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_GT(scratch_bytes, std::uint64_t{2} << 20U) << "nothing was spilled";
  EXPECT_EQ(difference(expected, files_below(env, kPlan)), "");
}

TEST(Plan, TellsWhichSourcesSeveralPartsRead) {
  MemoryEnv env;
  add_talks(env);
  auto request = lenient();
  request.recipe.corpus.validation_split = 0.3;  // each split reads both talks
  const auto planned = plan::make_plan(env, plan_request(request, 4));
  ASSERT_TRUE(planned.ok()) << planned.status().message();
  EXPECT_EQ(planned->shared.count, 2U);
  EXPECT_THAT(planned->shared.names, ::testing::UnorderedElementsAre("talk-a.wav", "talk-b.wav"));
  EXPECT_TRUE(planned->sound_seconds.has_value());
}

}  // namespace
}  // namespace xtts::testing
