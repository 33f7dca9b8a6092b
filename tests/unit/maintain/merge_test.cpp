// Parts built apart and merged are the cache that one build makes, byte for byte; and whatever is
// not all parts of one cache is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grown_cache.hpp"
#include "maintain/merge.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;

const std::string kNew = "/new";

std::string part_path(std::uint32_t index) {
  return "/part-" + std::to_string(index);
}

pipeline::BuildRequest part_request(std::uint32_t index, std::uint32_t count,
                                    const std::vector<std::string>& settings = {}) {
  auto request = grown_request(settings);
  request.options.cache = part_path(index);
  request.partition = {.index = index, .count = count};
  return request;
}

// In an order that is not that of their numbers.
std::vector<std::string> build_parts(MemoryEnv& env, std::uint32_t count,
                                     const std::vector<std::string>& settings = {}) {
  std::vector<std::string> paths;
  for (std::uint32_t index = count; index >= 1; --index) {
    must_build(env, part_request(index, count, settings));
    paths.push_back(part_path(index));
  }
  return paths;
}

Result<maintain::MergeReport> merge_of(Env& env, const std::vector<std::string>& parts) {
  return maintain::merge(env, {.to = kNew, .parts = parts, .max_rejects = {.count = 10}});
}

struct Dealing {
  std::string name;
  std::uint32_t part_count = 1;
  std::vector<std::string> settings = {};
};

void PrintTo(const Dealing& dealing, std::ostream* out) {
  *out << dealing.name;
}

class Merge : public ::testing::TestWithParam<Dealing> {};

TEST_P(Merge, GivesTheBytesOfOneBuild) {
  const Dealing& dealing = GetParam();
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, dealing.part_count, dealing.settings);
  for (const auto& part : parts) EXPECT_EQ(damage_in(env, part), "");
  const auto report = merge_of(env, parts);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->part_count, dealing.part_count);
  std::uint64_t shards = 0;
  const std::size_t tokens = GetParam().name == "WithoutTokens" ? 0 : 1;
  const std::size_t columns = open_cache(env, kNew)->manifest().columns.size() - tokens;
  for (std::size_t column = 0; column < columns; ++column) shards += shard_count(env, column, kNew);
  EXPECT_EQ(report->shard_count, shards);
  EXPECT_EQ(report->copied_count, 0U);
  EXPECT_EQ(difference(built_from_nothing(dealing.settings), published_files(env, kNew)), "");
  EXPECT_EQ(damage_in(env, kNew), "");
}

INSTANTIATE_TEST_SUITE_P(
    Parts, Merge,
    ::testing::Values(Dealing{"One", 1}, Dealing{"Two", 2}, Dealing{"AsManyAsShards", 3},
                      Dealing{"MoreThanShards", 7}, Dealing{"Hdf5", 2, {"storage.store=hdf5"}},
                      Dealing{"Padded", 2, {"features.max_frames=80", "storage.layout=padded"}},
                      Dealing{"WithoutTokens", 2, {"text.tokens=none"}},
                      Dealing{"Columns", 2, {"columns.wave=int16", "columns.energy=true"}}),
    [](const auto& instance) { return instance.param.name; });

TEST(Partition, DealsEveryShardOnce) {
  MemoryEnv env;
  add_grown_data(env);
  std::uint64_t shards = 0;
  std::uint64_t clips = 0;
  for (const auto& part : build_parts(env, 3)) {
    EXPECT_LE(shard_count(env, 0, part), 1U) << "three shards for three parts";
    shards += shard_count(env, 0, part);
    clips += open_cache(env, part)->size();
  }
  must_build(env, grown_request());
  EXPECT_EQ(shards, shard_count(env));
  EXPECT_EQ(clips, open_cache(env)->size());
}

TEST(Partition, IsTheSameWhereFilesHaveOtherTimes) {
  MemoryEnv here;
  add_grown_data(here);
  MemoryEnv there;
  for (int i = 0; i < 5; ++i) there.add_file("/other", "");  // inodes and times differ from here on
  add_grown_data(there);
  must_build(here, part_request(1, 2));
  must_build(there, part_request(2, 2));
  for (const auto& [path, bytes] : files_below(there, part_path(2)))
    here.add_file(part_path(2) + "/" + path, bytes);
  const auto report = merge_of(here, {part_path(1), part_path(2)});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(difference(built_from_nothing(), published_files(here, kNew)), "");
}

TEST(Partition, AnInterruptedPartGoesOn) {
  MemoryEnv env;
  add_grown_data(env);
  TestObserver observer;
  observer.cancel_at = 12;
  const auto request = part_request(1, 1);
  EXPECT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  must_build(env, request);
  ASSERT_TRUE(merge_of(env, {part_path(1)}).ok());
  EXPECT_EQ(difference(built_from_nothing(), published_files(env, kNew)), "");
}

TEST(Partition, APublishedPartIsDone) {
  MemoryEnv env;
  add_grown_data(env);
  (void)build_parts(env, 2);
  for (std::uint32_t index = 1; index <= 2; ++index)
    EXPECT_TRUE(must_build(env, part_request(index, 2)).unchanged);
  for (const std::uint32_t clip : {1U, 3U})  // touched: another time
    env.add_file(listed_wav(clip), env.contents(listed_wav(clip)));
  OpenedSources opened(env);
  for (std::uint32_t index = 1; index <= 2; ++index)
    EXPECT_TRUE(must_build(env, part_request(index, 2)).unchanged);
  EXPECT_THAT(opened.take(), ::testing::IsEmpty());
}

struct PartRefusal {
  std::string name;
  std::function<void(MemoryEnv&, pipeline::BuildRequest&)> change;
  StatusCode code;
  std::string message;
};

void PrintTo(const PartRefusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class PartitionRefuses : public ::testing::TestWithParam<PartRefusal> {};

TEST_P(PartitionRefuses, WithoutTouchingThePart) {
  MemoryEnv env;
  add_grown_data(env);
  must_build(env, part_request(1, 2));
  const Files before = published_files(env, part_path(1));
  auto request = part_request(1, 2);
  GetParam().change(env, request);
  const auto report = run_build(env, request);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), GetParam().code);
  EXPECT_THAT(report.status().message(), HasSubstr(GetParam().message));
  EXPECT_EQ(difference(before, published_files(env, part_path(1))), "");
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, PartitionRefuses,
    ::testing::Values(
        PartRefusal{"APlainBuild", [](MemoryEnv&, auto& request) { request.partition.reset(); },
                    StatusCode::kMismatch,
                    "CACHE holds part 1/2 of a cache: 'xtts-precompute merge NEW PART...'"},
        PartRefusal{"AnotherPart", [](MemoryEnv&, auto& request) { request.partition->index = 2; },
                    StatusCode::kMismatch, "CACHE holds part 1/2"},
        PartRefusal{"AnotherNumberOfParts",
                    [](MemoryEnv&, auto& request) { request.partition->count = 3; },
                    StatusCode::kMismatch, "CACHE holds part 1/2"},
        PartRefusal{"AWholeCache",
                    [](MemoryEnv& env, auto& request) {
                      must_build(env, grown_request());
                      request.options.cache = kCache;
                    },
                    StatusCode::kMismatch, "CACHE holds a whole cache"},
        PartRefusal{"ClipsThatCame",
                    [](MemoryEnv& env, auto&) { env.add_file(listed_wav(2), sound(30)); },
                    StatusCode::kMismatch, "DATA holds other clips"},
        PartRefusal{"OtherTexts",
                    [](MemoryEnv&, auto& request) {
                      request.recipe = recipe_of_small_shards({"text.max_tokens=50"});
                    },
                    StatusCode::kMismatch, "text.max_tokens"},
        PartRefusal{"RetriedRejects",
                    [](MemoryEnv&, auto& request) { request.options.retry_rejects = true; },
                    StatusCode::kInvalidArgument, "a published part is not changed"},
        PartRefusal{"DroppedDuplicates",
                    [](MemoryEnv&, auto& request) {
                      request.recipe = recipe_of_small_shards({"corpus.duplicates=drop"});
                    },
                    StatusCode::kInvalidArgument, "corpus.duplicates=warn"}),
    [](const auto& instance) { return instance.param.name; });

TEST(MergeRun, NeedsNoHashingOfSourcesAfterwards) {
  MemoryEnv env;
  add_grown_data(env);
  ASSERT_TRUE(merge_of(env, build_parts(env, 2)).ok());
  auto request = grown_request();
  request.options.cache = kNew;
  OpenedSources opened(env);
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_TRUE(opened.take().empty());
}

// A merge reads only block headers and facts of a mel shard.
TEST(MergeRun, ReadsNoFeatures) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, 2, {"storage.layout=padded"});
  std::atomic<std::uint64_t> read_bytes = 0;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kRead && operation.path.find("/mel/") != std::string::npos)
      read_bytes += operation.size_bytes;
    return Status();
  });
  ASSERT_TRUE(merge_of(env, parts).ok());
  env.set_hook({});
  std::uint64_t shard_bytes = 0;
  const auto merged = open_cache(env, kNew);
  for (const auto& shard : merged->manifest().columns.front().shards)
    shard_bytes += shard.file_bytes;
  EXPECT_GT(read_bytes, 0U);
  EXPECT_LT(read_bytes, shard_bytes / 20);
}

TEST(MergeRun, CopiesWhereAFileCannotHaveASecondName) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, 2);
  env.set_hook([](EnvOperation& operation) {
    return operation.call == EnvCall::kLink ? Status(StatusCode::kUnsupported, "no") : Status();
  });
  const auto report = merge_of(env, parts);
  env.set_hook({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->copied_count, report->shard_count);
  EXPECT_EQ(difference(built_from_nothing(), published_files(env, kNew)), "");
}

TEST(MergeRun, FindsACopyThatIsDamaged) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, 1);
  for (const auto& [path, bytes] : files_named(files_below(env, parts[0]), "shards/mel/")) {
    std::string damaged = bytes;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    env.add_file(parts[0] + "/" + path, damaged);
  }
  env.set_hook([](EnvOperation& operation) {
    return operation.call == EnvCall::kLink ? Status(StatusCode::kUnsupported, "no") : Status();
  });
  EXPECT_EQ(merge_of(env, parts).status().code(), StatusCode::kCorrupt);
}

TEST(MergeRun, NamesThePartWhoseShardIsLost) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, 2);
  const std::string lost = files_named(files_below(env, parts[1]), "shards/mel/").begin()->first;
  ASSERT_TRUE(env.remove_file(parts[1] + "/" + lost).ok());
  const Status status = merge_of(env, parts).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_NE(status.message().find(lost + " is missing; 'xtts-precompute verify " + parts[1] +
                                  " --repair'"),
            std::string::npos)
      << status.message();
  EXPECT_FALSE(env.exists(kNew));
}

// Each part is below the limit, the whole is not.
TEST(MergeRun, CountsTheRejectsOfAllParts) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, 2);
  const auto report =
      maintain::merge(env, {.to = kNew, .parts = parts, .max_rejects = {.count = 0}});
  EXPECT_EQ(report.status().code(), StatusCode::kTooManyRejects);
  EXPECT_FALSE(env.exists(kNew + "/manifest.json"));
}

struct MergeRefusal {
  std::string name;
  std::function<std::vector<std::string>(MemoryEnv&)> parts;
  StatusCode code;
  std::string message;
};

void PrintTo(const MergeRefusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class MergeRefuses : public ::testing::TestWithParam<MergeRefusal> {};

TEST_P(MergeRefuses, AndMakesNothing) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = GetParam().parts(env);
  const auto report = merge_of(env, parts);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), GetParam().code);
  EXPECT_THAT(report.status().message(), HasSubstr(GetParam().message));
  EXPECT_FALSE(env.exists(kNew));
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, MergeRefuses,
    ::testing::Values(
        MergeRefusal{"AMissingPart",
                     [](MemoryEnv& env) {
                       build_parts(env, 3);
                       return std::vector{part_path(3), part_path(1)};
                     },
                     StatusCode::kMismatch, "part 2/3 is missing"},
        MergeRefusal{"SeveralMissingParts",
                     [](MemoryEnv& env) {
                       must_build(env, part_request(2, 40));
                       return std::vector{part_path(2)};
                     },
                     StatusCode::kMismatch, "20/40, 21/40 and 19 more are missing"},
        MergeRefusal{"ADoubledPart",
                     [](MemoryEnv& env) {
                       auto parts = build_parts(env, 2);
                       auto again = part_request(2, 2);
                       again.options.cache = "/again";
                       must_build(env, again);
                       parts.push_back("/again");
                       return parts;
                     },
                     StatusCode::kMismatch, "part 2/2 is given twice: /part-2 and /again"},
        MergeRefusal{"AWholeCache",
                     [](MemoryEnv& env) {
                       must_build(env, grown_request());
                       return std::vector{kCache};
                     },
                     StatusCode::kInvalidArgument, "/cache is a whole cache"},
        MergeRefusal{"AFolderThatIsNoCache", [](MemoryEnv&) { return std::vector{kData}; },
                     StatusCode::kNotFound, "/data holds no manifest.json"},
        MergeRefusal{"AnotherRecipe",
                     [](MemoryEnv& env) {
                       must_build(env, part_request(1, 2));
                       must_build(env, part_request(2, 2, {"features.max_frames=90"}));
                       return std::vector{part_path(1), part_path(2)};
                     },
                     StatusCode::kMismatch, "features.max_frames"},
        MergeRefusal{"OtherClips",
                     [](MemoryEnv& env) {
                       must_build(env, part_request(1, 2));
                       env.add_file(listed_wav(2), sound(30));
                       must_build(env, part_request(2, 2));
                       return std::vector{part_path(1), part_path(2)};
                     },
                     StatusCode::kMismatch, "saw other clips, texts or files"},
        MergeRefusal{"OtherNumbersOfSpeakers",
                     [](MemoryEnv& env) {
                       must_build(env, part_request(1, 2));
                       auto request = part_request(2, 2);
                       request.known_speakers = {"somebody"};
                       must_build(env, request);
                       return std::vector{part_path(1), part_path(2)};
                     },
                     StatusCode::kMismatch, "give all the same --speakers"},
        MergeRefusal{"AnotherProcessor",
                     [](MemoryEnv& env) {
                       must_build(env, part_request(1, 2));
                       auto request = part_request(2, 2);
                       request.isa = dsp::Isa::kScalar;
                       must_build(env, request);
                       return std::vector{part_path(1), part_path(2)};
                     },
                     StatusCode::kMismatch, "--allow-mixed"}),
    [](const auto& instance) { return instance.param.name; });

TEST(MergeRun, JoinsPartsOfTwoProcessorsWhereAsked) {
  MemoryEnv env;
  add_grown_data(env);
  must_build(env, part_request(1, 2));
  auto scalar = part_request(2, 2);
  scalar.isa = dsp::Isa::kScalar;
  must_build(env, scalar);
  const auto report = maintain::merge(env, {.to = kNew,
                                            .parts = {part_path(1), part_path(2)},
                                            .max_rejects = {.count = 10},
                                            .allow_mixed = true});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(damage_in(env, kNew), "");
}

TEST(MergeRun, LeavesAFolderOfOtherThingsAlone) {
  MemoryEnv env;
  add_grown_data(env);
  const auto parts = build_parts(env, 1);
  env.add_file(kNew + "/letters.txt", "mine");
  EXPECT_EQ(merge_of(env, parts).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(files_below(env, kNew).size(), 1U);
}

}  // namespace
}  // namespace xtts::testing
