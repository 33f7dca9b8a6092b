#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/convert_floats.hpp"
#include "formats/feature_config.hpp"
#include "formats/index.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/rules.hpp"
#include "grown_cache.hpp"
#include "maintain/rewrite.hpp"
#include "store/index_copy.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using formats::StorageConfig;

const std::string kNew = "/new";

Status convert_to(MemoryEnv& env, const StorageConfig& storage) {
  return maintain::convert(env, {.from = kCache, .to = kNew, .storage = storage}).status();
}

// Without the manifest; of the index and its copy the sections before the manifest's copy, the last
// one.
Files without_statistics(Files files) {
  Files kept;
  EXPECT_EQ(files.erase("manifest.json"), 1U);
  for (auto& [path, bytes] : files) {
    const bool is_copy = path == store::kIndexCopyName;
    if (!is_copy && !path.starts_with("index-")) {
      kept[path] = std::move(bytes);
      continue;
    }
    const auto footer = formats::decode_index_footer(
        as_bytes(bytes).last(formats::kIndexFooterBytes), bytes.size());
    EXPECT_TRUE(footer.ok());
    EXPECT_EQ(footer->sections.back().kind, formats::SectionKind::kManifest);
    kept[is_copy ? path : "index"] = bytes.substr(0, footer->sections.back().offset_bytes);
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
        Target{.name = "SoundAlone",
               .storage = {.store = formats::StoreKind::kHdf5,
                           .layout = formats::Layout::kPacked,
                           .dtype = DType::kFloat32},
               .settings = {"columns.mel=false", "columns.wave=int16", "storage.store=hdf5"},
               .settings_before = {"columns.mel=false", "columns.wave=int16"}},
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
  request.options.cache = kNew;
  OpenedSources opened(env);
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_EQ(opened.take(), std::set<std::string>{});
}

TEST(Convert, DoesNotMakeFloat32OfHalfFloats) {
  MemoryEnv env;
  build_grown(env, {"storage.dtype=float16"});
  const Status status = convert_to(env, {.dtype = DType::kFloat32});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("needs the sources"), std::string::npos);
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

void add_tone(MemoryEnv& env, std::uint32_t number, float amplitude) {
  std::vector<float> samples(11025);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] =
        amplitude * static_cast<float>(std::sin(2.0 * std::numbers::pi * (300.0 + 10.0 * number) *
                                                static_cast<double>(i) / 22050.0));
  }
  env.add_file(sound_path(number), float_wav_file({}, samples));
}

// Features that go with the amplitude: spectra without a logarithm, beside mels.
pipeline::BuildRequest request_of_spectra(const std::string& dtype) {
  return request_for(
      recipe_with({"columns.linear=true", "loudness.method=none", "trim.method=none",
                   "corpus.silent=keep", "corpus.train_split=1", "corpus.validation_split=0",
                   "storage.layout=packed", "storage.dtype=" + dtype}));
}

TEST(Convert, RefusesADtypeThatCannotHoldSomeClipsAndNamesThem) {
  MemoryEnv env;
  for (std::uint32_t i = 0; i < 10; ++i) add_tone(env, i, i == 3 || i == 7 ? 900.0F : 0.5F);
  must_build(env, request_of_spectra("float32"));
  const StorageConfig half{.layout = formats::Layout::kPacked, .dtype = DType::kFloat16};
  const Status status = convert_to(env, half);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  const std::string text = status.message();
  EXPECT_NE(text.find("column linear reaches 2."), std::string::npos) << text;
  EXPECT_NE(text.find("--dtype bfloat16 or float32 holds it"), std::string::npos) << text;
  EXPECT_NE(text.find("2 of 10 clips: clip-0003, clip-0007"), std::string::npos) << text;
  EXPECT_FALSE(env.exists(kNew)) << "the folder was made for nothing";
  EXPECT_TRUE(
      convert_to(env, {.layout = formats::Layout::kPacked, .dtype = DType::kBFloat16}).ok());
}

TEST(Convert, NamesNoMoreClipsThanShowWhatIsWrong) {
  MemoryEnv env;
  for (std::uint32_t i = 0; i < 30; ++i) add_tone(env, i, 900.0F);
  must_build(env, request_of_spectra("float32"));
  const Status status = convert_to(env, {.dtype = DType::kFloat16});
  EXPECT_NE(status.message().find("at least 5 of 30 clips: clip-0000"), std::string::npos)
      << status.message();
}

// Every warning in the place where a build has it: of the mel first, then of the spectrum.
TEST(Convert, WarnsOfWhatBecameZeroAsABuildDoes) {
  MemoryEnv env;
  for (std::uint32_t i = 0; i < 10; ++i) add_tone(env, i, i % 3 == 1 ? 1e-10F : 0.5F);
  auto request = request_of_spectra("float32");
  request.recipe.features->log = {.base = formats::LogBase::kNone};
  must_build(env, request);
  ASSERT_TRUE(convert_to(env, {.layout = formats::Layout::kPacked, .dtype = DType::kFloat16}).ok());
  request.recipe.storage.dtype = DType::kFloat16;
  request.options.cache = "/built";
  const auto report = must_build(env, request);
  EXPECT_GE(report.warned_count, 3U);
  const auto built = open_cache(env, "/built");
  const auto details = built->details(1);
  ASSERT_TRUE(details.ok());
  std::vector<std::string> columns;
  for (const formats::Reason& warning : details->warnings) {
    if (warning.rule == formats::Rule::kVanishedInFloat16) columns.push_back(warning.detail);
  }
  EXPECT_EQ(columns, (std::vector<std::string>{"mel", "linear"}));
  EXPECT_EQ(difference(without_statistics(published_files(env, "/built")),
                       without_statistics(published_files(env, kNew))),
            "");
}

Status bake_to(MemoryEnv& env, const StorageConfig& storage = {}) {
  return maintain::convert(env,
                           {.from = kCache, .to = kNew, .storage = storage, .bake_corpus = true})
      .status();
}

std::vector<float> mel_of(reader::CacheView& view, std::uint64_t position) {
  const auto record = view.read_record("mel", position);
  EXPECT_TRUE(record.ok());
  std::vector<float> values(record->bytes.size() / size_bytes(record->dtype));
  if (record->dtype == DType::kFloat32) {
    std::memcpy(values.data(), record->bytes.data(), record->bytes.size());
  } else {
    widen_floats(record->bytes, record->dtype, values);
  }
  return values;
}

TEST(ConvertAndBake, NormalizesEachChannelByThePublishedStatistics) {
  MemoryEnv env;
  build_grown(env);  // whose statistics are those of its first twelve clips
  const Files before = files_below(env);
  const Status status = bake_to(env);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(difference(before, files_below(env)), "");
  const auto raw = open_cache(env);
  const auto baked = open_cache(env, kNew);
  ASSERT_EQ(baked->size(), raw->size());
  const formats::Statistics& statistics = *raw->manifest().mel_statistics;
  const std::size_t channels = statistics.mean.size();
  for (std::uint64_t position = 0; position < raw->size(); ++position) {
    const auto from = mel_of(*raw, position);
    const auto to = mel_of(*baked, position);
    ASSERT_EQ(to.size(), from.size());
    EXPECT_EQ(baked->read_record("mel", position)->fill_bits,
              raw->read_record("mel", position)->fill_bits);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto mean = static_cast<float>(statistics.mean[i % channels]);
      const auto divisor =
          static_cast<float>(std::max(statistics.std_deviation[i % channels], 1e-5));
      ASSERT_EQ(to[i], (from[i] - mean) / divisor) << position << ", value " << i;
      // And it can be undone.
      ASSERT_NEAR(to[i] * divisor + mean, from[i], 2e-6F * (1.0F + std::abs(from[i])));
    }
  }
}

TEST(ConvertAndBake, SaysSoInItsFeaturesAndKeepsTheStatistics) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(bake_to(env, {.layout = formats::Layout::kPacked, .dtype = DType::kFloat16}).ok());
  const formats::Manifest before = open_cache(env)->manifest();
  const formats::Manifest after = open_cache(env, kNew)->manifest();
  EXPECT_NE(after.features_fingerprint, before.features_fingerprint);
  EXPECT_NE(after.columns[0].spec.fingerprint, before.columns[0].spec.fingerprint);
  EXPECT_EQ(after.columns[0].fill_bits, before.columns[0].fill_bits);
  EXPECT_EQ(after.text_fingerprint, before.text_fingerprint);
  EXPECT_EQ(after.mel_statistics->mean, before.mel_statistics->mean);
  EXPECT_EQ(after.mel_statistics->frame_count, before.mel_statistics->frame_count);
  const auto recipe = formats::recipe_of(after);
  ASSERT_TRUE(recipe.ok());
  EXPECT_TRUE(recipe->features->baked.is_baked());
  EXPECT_EQ(recipe->features->baked.mean, before.mel_statistics->mean);
  EXPECT_EQ(recipe->features->baked.std_deviation, before.mel_statistics->std_deviation);
  EXPECT_EQ(recipe->features->baked.dtype, DType::kFloat32);
  EXPECT_EQ(recipe->storage.dtype, DType::kFloat16);
  EXPECT_FALSE(formats::recipe_of(before)->features->baked.is_baked());
}

// Zero mean and deviation 1 in each channel that moves, over what the statistics are of.
TEST(ConvertAndBake, LeavesMeanZeroAndDeviationOne) {
  MemoryEnv env;
  add_grown_data(env);
  must_build(env, grown_request());
  ASSERT_TRUE(bake_to(env).ok());
  const auto baked = open_cache(env, kNew);
  const formats::Statistics& statistics = *baked->manifest().mel_statistics;
  const std::size_t channels = statistics.mean.size();
  std::vector<double> sums(channels);
  std::vector<double> squares(channels);
  std::uint64_t frames = 0;
  for (std::uint64_t position = 0; position < baked->size(); ++position) {
    if (baked->plan_row(position)->split != 0) continue;
    const auto mel = mel_of(*baked, position);
    frames += mel.size() / channels;
    for (std::size_t i = 0; i < mel.size(); ++i) {
      sums[i % channels] += double{mel[i]};
      squares[i % channels] += double{mel[i]} * double{mel[i]};
    }
  }
  EXPECT_EQ(frames, statistics.frame_count);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double mean = sums[channel] / static_cast<double>(frames);
    EXPECT_NEAR(mean, 0.0, 1e-6) << channel;
    if (statistics.std_deviation[channel] < 1e-3) continue;
    EXPECT_NEAR(std::sqrt(squares[channel] / static_cast<double>(frames) - mean * mean), 1.0, 1e-5);
  }
}

TEST(ConvertAndBake, ABakedCacheIsConvertedAsItIs) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(bake_to(env, {.layout = formats::Layout::kPacked}).ok());
  const auto again = maintain::convert(
      env, {.from = kNew, .to = "/padded", .storage = {.layout = formats::Layout::kPadded}});
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again->is_baked);
  const auto baked = open_cache(env, kNew);
  const auto padded = open_cache(env, "/padded");
  EXPECT_EQ(padded->manifest().features_fingerprint, baked->manifest().features_fingerprint);
  for (std::uint64_t position = 0; position < baked->size(); ++position) {
    EXPECT_EQ(mel_of(*padded, position), mel_of(*baked, position));
  }
}

TEST(ConvertAndBake, IsNotDoneTwice) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(bake_to(env).ok());
  const auto twice =
      maintain::convert(env, {.from = kNew, .to = "/twice", .storage = {}, .bake_corpus = true})
          .status();
  EXPECT_EQ(twice.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(twice.message().find("baked already"), std::string::npos);
  EXPECT_FALSE(env.exists("/twice"));
}

// The padding behind the frames is features too, and one number cannot be it for all channels.
TEST(ConvertAndBake, IsNotDoneWhereSamplesArePadded) {
  MemoryEnv env;
  build_grown(env, {"features.pad=samples"});
  const Status status = bake_to(env);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("pads samples"), std::string::npos);
  EXPECT_FALSE(env.exists(kNew));
}

TEST(ConvertAndBake, ABuildAddsNothingAndSaysWhatToDo) {
  MemoryEnv env;
  build_grown(env);
  ASSERT_TRUE(bake_to(env, {.layout = formats::Layout::kPacked}).ok());
  const Files before = published_files(env, kNew);
  auto request = grown_request();
  request.options.cache = kNew;
  const Status status = run_build(env, request).status();
  EXPECT_EQ(status.code(), StatusCode::kMismatch);
  EXPECT_NE(status.message().find("build the cache that it was made from"), std::string::npos)
      << status.message();
  // Nor by the recipe that the manifest itself gives.
  request.recipe = *formats::recipe_of(open_cache(env, kNew)->manifest());
  EXPECT_EQ(run_build(env, request).status().code(), StatusCode::kMismatch);
  EXPECT_EQ(difference(before, published_files(env, kNew)), "");
  request = grown_request();
  request.options.cache = kNew;
  request.options.overwrite = true;
  EXPECT_TRUE(run_build(env, request).status().ok());
  EXPECT_FALSE(open_cache(env, kNew)->manifest().features.contains("baked"));
}

}  // namespace
}  // namespace xtts::testing
