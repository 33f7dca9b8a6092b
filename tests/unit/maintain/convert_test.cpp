#include <gtest/gtest.h>

#include "formats/index.hpp"
#include "grown_cache.hpp"
#include "maintain/rewrite.hpp"

namespace xtts::testing {
namespace {

using formats::StorageConfig;

const std::string kNew = "/new";

Status convert_to(MemoryEnv& env, const StorageConfig& storage) {
  return maintain::convert(env, {.from = kCache, .to = kNew, .storage = storage}).status();
}

// Without the manifest; of the index the sections before its copy, the last one.
Files without_statistics(Files files) {
  Files kept;
  EXPECT_EQ(files.erase("manifest.json"), 1U);
  for (auto& [path, bytes] : files) {
    if (!path.starts_with("index-")) {
      kept[path] = std::move(bytes);
      continue;
    }
    const auto footer = formats::decode_index_footer(
        as_bytes(bytes).last(formats::kIndexFooterBytes), bytes.size());
    EXPECT_TRUE(footer.ok());
    EXPECT_EQ(footer->sections.back().kind, formats::SectionKind::kManifest);
    kept["index"] = bytes.substr(0, footer->sections.back().offset_bytes);
  }
  return kept;
}

struct Target {
  std::string name;
  StorageConfig storage;
  std::vector<std::string> settings;  // of a build in it
  std::vector<std::string> settings_before = {};
};

void PrintTo(const Target& target, std::ostream* out) {
  *out << target.name;
}

class Convert : public ::testing::TestWithParam<Target> {};

TEST_P(Convert, GivesTheBytesOfABuildInThatStorage) {
  MemoryEnv env;
  build_grown(env, GetParam().settings_before);
  const Files before = files_below(env);
  const Status status = convert_to(env, GetParam().storage);
  ASSERT_TRUE(status.ok()) << status.message();
  // But for the statistics, which are the published ones: in the manifest and in the index's copy.
  const Files expected = without_statistics(built_from_nothing(GetParam().settings));
  EXPECT_EQ(difference(expected, without_statistics(published_files(env, kNew))), "");
  EXPECT_EQ(difference(before, files_below(env)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Storages, Convert,
    ::testing::Values(
        Target{.name = "PaddedFloat16",
               .storage = {.layout = formats::Layout::kPadded, .dtype = DType::kFloat16},
               .settings = {"features.max_frames=80", "storage.layout=padded",
                            "storage.dtype=float16"},
               .settings_before = {"features.max_frames=80"}},
        Target{.name = "PackedFromPadded",
               .storage = {.layout = formats::Layout::kPacked, .dtype = DType::kFloat32},
               .settings = {"features.max_frames=80"},
               .settings_before = {"features.max_frames=80", "storage.layout=padded"}},
        Target{.name = "ColumnsOfFloat16",
               .storage = {.layout = formats::Layout::kPacked, .dtype = DType::kFloat16},
               .settings = {"columns.wave=int16", "columns.energy=true", "storage.dtype=float16"},
               .settings_before = {"columns.wave=int16", "columns.energy=true"}},
        Target{.name = "PackedBFloat16",
               .storage = {.layout = formats::Layout::kPacked, .dtype = DType::kBFloat16},
               .settings = {"storage.layout=packed", "storage.dtype=bfloat16"}},
        Target{.name = "Hdf5",
               .storage = {.store = formats::StoreKind::kHdf5,
                           .layout = formats::Layout::kPacked,
                           .dtype = DType::kFloat32},
               .settings = {"storage.store=hdf5"}},
        Target{.name = "LmdbFromHdf5",
               .storage = {.store = formats::StoreKind::kLmdb,
                           .layout = formats::Layout::kPacked,
                           .dtype = DType::kFloat32},
               .settings = {},
               .settings_before = {"storage.store=hdf5"}},
        Target{.name = "Itself",
               .storage = {.layout = formats::Layout::kPacked, .dtype = DType::kFloat32},
               .settings = {}}),
    [](const auto& instance) { return instance.param.name; });

TEST(Convert, KeepsTheStatisticsThatModelsWereTrainedWith) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(convert_to(env, {.layout = formats::Layout::kPacked, .dtype = DType::kFloat16}).ok());
  const auto published = open_cache(env)->manifest().mel_statistics;
  const auto kept = open_cache(env, kNew)->manifest().mel_statistics;
  ASSERT_TRUE(published.has_value() && kept.has_value());
  EXPECT_EQ(kept->mean, published->mean);
  EXPECT_EQ(kept->std_deviation, published->std_deviation);
}

TEST(Convert, GivesTheBytesOfABuildWhereNothingWasAdded) {
  MemoryEnv env;
  add_grown_data(env);
  must_build(env, grown_request({"storage.store=hdf5"}));
  ASSERT_TRUE(convert_to(env, {.layout = formats::Layout::kPacked}).ok());
  EXPECT_EQ(difference(built_from_nothing(), published_files(env, kNew)), "");
}

TEST(Convert, NeedsNoHashingOfSourcesAfterwards) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(convert_to(env, {.layout = formats::Layout::kPacked, .dtype = DType::kFloat16}).ok());
  auto request = grown_request({"storage.dtype=float16"});
  request.cache = kNew;
  OpenedSources opened(env);
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_EQ(opened.take(), std::set<std::string>{});
}

TEST(Convert, DoesNotMakeFloat32OfHalfFloats) {
  MemoryEnv env;
  build_grown(env, {"storage.dtype=float16"});
  const Status status = convert_to(env, {.dtype = DType::kFloat32});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("comes from the sources alone"), std::string::npos);
  EXPECT_FALSE(env.exists(kNew));
}

TEST(Convert, RefusesAFolderOfOtherThings) {
  MemoryEnv env;
  build_grown(env);
  env.add_file(kNew + "/thesis.tex", "precious");
  EXPECT_EQ(convert_to(env, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(difference({{"thesis.tex", "precious"}}, files_below(env, kNew)), "");
}

TEST(Convert, RefusesAFolderThatHoldsACache) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(convert_to(env, {}).ok());
  const Files before = files_below(env, kNew);
  const Status status = convert_to(env, {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("holds a cache already"), std::string::npos);
  EXPECT_EQ(difference(before, files_below(env, kNew)), "");
}

}  // namespace
}  // namespace xtts::testing
