// libxtts_builder.so by its public header alone: whole caches of generated sounds, in real folders.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.hpp"
#include "support/wav_file.hpp"
#include "xtts/builder.hpp"
#include "xtts/recipe.hpp"

namespace xtts {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class PublicBuilder : public ::testing::Test {
 protected:
  // Chirps of a third of a second, without text.
  void add_clips(int count) const {
    for (int number = 0; number < count; ++number) {
      const std::string name = "data/clip-" + std::to_string(1000 + number) + ".wav";
      (void)folder_.write(name, testing::tone_wav(200.0 + number, {.seconds = 0.3}));
    }
  }
  [[nodiscard]] std::string data() const { return folder_.path() + "/data"; }
  [[nodiscard]] std::string cache() const { return folder_.path() + "/cache"; }
  [[nodiscard]] BuildOptions options() const {
    return {.data = data(),
            .cache = cache(),
            .settings = {"max_frames=64"},
            .thread_count = 2,
            .program = XTTS_PROGRAM};
  }
  [[nodiscard]] BuildReport must_build() const {
    const auto report = build_cache(options());
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : BuildReport{};
  }
  [[nodiscard]] Result<VerifyReport> verify(const std::string& level = "full") const {
    return verify_cache({.cache = cache(), .level = level, .program = XTTS_PROGRAM});
  }
  // The file of the first shard of mels.
  [[nodiscard]] std::string shard() const {
    return fs::directory_iterator(cache() + "/shards/mel")->path().string();
  }
  void flip_a_byte(const std::string& path) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto place = static_cast<std::streamoff>(fs::file_size(path) / 2);
    file.seekg(place);
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(place);
    file.put(byte);
    ASSERT_TRUE(file.good());
  }
  [[nodiscard]] std::string contents(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing::TempFolder folder_;
};

TEST_F(PublicBuilder, BuildsACacheThatVerifiesDeep) {
  add_clips(12);
  std::vector<BuildProgress> told;
  const auto report = build_cache(
      options(), {.progress = [&](const BuildProgress& progress) { told.push_back(progress); }});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->record_count, 12U);
  EXPECT_EQ(report->computed_count, 12U);
  EXPECT_NEAR(report->sound_seconds, 12 * 0.3, 0.1);
  EXPECT_THAT(report->rejects, SizeIs(0));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().done_count, 12U);
  EXPECT_EQ(told.back().total_count, 12U);
  const auto json = nlohmann::json::parse(report->json);
  EXPECT_EQ(json.at("records"), 12);
  EXPECT_EQ(json.at("cache"), cache());

  const auto verified = verify("deep");
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  EXPECT_TRUE(verified->ok);
  EXPECT_EQ(verified->record_count, 12U);
  EXPECT_EQ(nlohmann::json::parse(verified->json).at("recomputed"), 12);
}

TEST_F(PublicBuilder, HasNothingToDoTheSecondTime) {
  add_clips(5);
  EXPECT_FALSE(must_build().unchanged);
  const BuildReport again = must_build();
  EXPECT_TRUE(again.unchanged);
  EXPECT_EQ(again.record_count, 5U);
  EXPECT_EQ(again.computed_count, 0U);
}

TEST_F(PublicBuilder, SaysBeforehandWhatADryRunWouldDo) {
  add_clips(7);
  auto dry = options();
  dry.dry_run = true;
  std::vector<BuildPreview> previews;
  const auto report = build_cache(
      dry, {.before = [&](const BuildPreview& preview) { previews.push_back(preview); }});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_THAT(previews, SizeIs(1));
  EXPECT_EQ(previews[0].clip_count, 7U);
  EXPECT_EQ(previews[0].to_compute_count, 7U);
  EXPECT_GE(previews[0].size_bytes, 7U * 64 * 80 * 4);
  EXPECT_EQ(nlohmann::json::parse(previews[0].json).at("clips"), 7);
  EXPECT_FALSE(fs::exists(cache() + "/manifest.json"));
}

TEST_F(PublicBuilder, StopsWhenAskedAndGoesOnLater) {
  add_clips(40);
  std::atomic<bool> stop = false;
  const BuildCallbacks callbacks = {
      .progress = [&](const BuildProgress& progress) { stop = progress.done_count >= 3; },
      .cancelled = [&] { return stop.load(); }};
  const auto stopped = build_cache(options(), callbacks);
  EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);
  EXPECT_FALSE(fs::exists(cache() + "/manifest.json"));
  EXPECT_EQ(must_build().record_count, 40U);
  const auto verified = verify();
  EXPECT_TRUE(verified.ok() && verified->ok);
}

TEST_F(PublicBuilder, MendsAFlippedByte) {
  add_clips(9);
  (void)must_build();
  const std::string sound = contents(shard());
  flip_a_byte(shard());

  const auto damaged = verify();
  ASSERT_TRUE(damaged.ok()) << damaged.status().message();
  EXPECT_FALSE(damaged->ok);
  ASSERT_THAT(damaged->findings, SizeIs(1));
  EXPECT_THAT(damaged->findings[0].file, HasSubstr("shards/mel/"));
  EXPECT_FALSE(damaged->findings[0].is_note);

  std::vector<VerifyStage> stages;
  const auto mended = verify_cache(
      {.cache = cache(), .repair = true, .program = XTTS_PROGRAM},
      {.progress = [&](const VerifyProgress& progress) { stages.push_back(progress.stage); }});
  ASSERT_TRUE(mended.ok()) << mended.status().message();
  EXPECT_TRUE(mended->ok);
  EXPECT_THAT(mended->repaired, SizeIs(1));
  EXPECT_THAT(stages, ::testing::Contains(VerifyStage::kRepair));
  EXPECT_TRUE(contents(shard()) == sound);
}

TEST_F(PublicBuilder, TellsTooManyRejectsFromOtherFailures) {
  add_clips(3);
  (void)folder_.write("data/noise.wav", "this is no sound");
  auto strict = options();
  strict.max_rejects = "0";
  EXPECT_EQ(build_cache(strict).status().code(), StatusCode::kTooManyRejects);
  strict.max_rejects = "1";
  const auto report = build_cache(strict);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_THAT(report->rejects, SizeIs(1));
  EXPECT_EQ(report->rejects[0].place, "noise.wav");
  EXPECT_EQ(report->rejects[0].kind, "input");
}

TEST_F(PublicBuilder, NamesOptionsAsCodeWritesThem) {
  add_clips(1);
  auto wrong = options();
  wrong.max_rejects = "many";
  const Status status = build_cache(wrong).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("max_rejects 'many': a number of clips"));
  EXPECT_EQ(verify_cache({.cache = cache(), .level = "ful"}).status().message(),
            "level is quick, full or deep, not 'ful'");
  EXPECT_EQ(verify_cache({.cache = cache(), .sample = "1%"}).status().message(),
            "sample is for level deep");
}

TEST_F(PublicBuilder, AnswersWithTheFailureOfAWrongRecipeCorpusOrProgram) {
  add_clips(1);
  auto wrong = options();
  wrong.recipe = "myxts";
  EXPECT_THAT(build_cache(wrong).status().message(), HasSubstr("myxtts"));
  wrong = options();
  wrong.data = folder_.path() + "/nowhere";
  EXPECT_EQ(build_cache(wrong).status().code(), StatusCode::kNotFound);
  wrong = options();
  wrong.program = "/nowhere/xtts-precompute";
  const Status status = build_cache(wrong).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/xtts-precompute: No such file"));
  EXPECT_EQ(verify_cache({.cache = folder_.path() + "/nowhere"}).status().code(),
            StatusCode::kNotFound);
}

TEST_F(PublicBuilder, RefusesASecondBuildOfTheSameCache) {
  add_clips(20);
  std::optional<Status> second;
  const auto first =
      build_cache(options(), {.progress = [&](const BuildProgress&) {
                    if (!second)
                      std::thread([&] { second = build_cache(options()).status(); }).join();
                  }});
  EXPECT_TRUE(first.ok()) << first.status().message();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->code(), StatusCode::kBusy);
}

TEST_F(PublicBuilder, DescribesTheRecipeThatABuildWouldUse) {
  add_clips(1);
  auto asked = options();
  asked.config =
      folder_.write("config.yaml", "data: {n_mels: 100, batch_size: 16, add_blank: yes}\n");
  const auto built = build_cache(asked);
  ASSERT_TRUE(built.ok()) << built.status().message();
  const auto described = describe_recipe({.settings = asked.settings, .config = asked.config});
  ASSERT_TRUE(described.ok()) << described.status().message();
  const auto recipe = nlohmann::json::parse(described->json);
  const auto manifest = nlohmann::json::parse(contents(cache() + "/manifest.json"));
  EXPECT_EQ(recipe["fingerprints"], manifest["fingerprints"]);
  EXPECT_EQ(recipe["fingerprints"]["features"], described->features_fingerprint);
  EXPECT_EQ(recipe["fingerprints"]["text"], described->text_fingerprint);
  for (const auto* section : {"features", "text", "corpus", "storage"}) {
    EXPECT_EQ(recipe["sections"][section], manifest["recipe"][section]) << section;
  }
  const auto& keys = recipe["config"];
  ASSERT_THAT(keys, SizeIs(3));
  EXPECT_EQ(keys[0]["class"], "honoured");
  EXPECT_EQ(keys[0]["recipe_key"], "features.mel.n_mels");
  EXPECT_EQ(keys[1]["class"], "no effect");
  EXPECT_EQ(keys[1]["value"], "16");
  EXPECT_EQ(keys[2]["class"], "not reproduced");
}

TEST_F(PublicBuilder, DescribesNoRecipeOfAWrongConfig) {
  const auto config = folder_.write("config.yaml", "data: {n_mels: many}\n");
  const Status status = describe_recipe({.config = config}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("config.yaml:1: data.n_mels: "));
  EXPECT_EQ(describe_recipe({.config = folder_.path() + "/none.yaml"}).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace xtts
