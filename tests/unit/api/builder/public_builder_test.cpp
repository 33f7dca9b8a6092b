// libxtts_builder.so by its public header alone: whole caches of generated sounds, in real folders.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.hpp"
#include "support/wav_file.hpp"
#include "xtts/add_column.hpp"
#include "xtts/builder.hpp"
#include "xtts/recipe_info.hpp"

namespace xtts {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
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
    return {.data = data(), .cache = cache(), .settings = {"max_frames=64"}, .thread_count = 2};
  }
  [[nodiscard]] BuildReport must_build() const {
    const auto report = build_cache(options());
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : BuildReport{};
  }
  [[nodiscard]] Result<VerifyReport> verify(const std::string& level = "full") const {
    return verify_cache({.cache = cache(), .level = level});
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

TEST_F(PublicBuilder, SaysBeforehandThatADryRunWouldDoNothing) {
  add_clips(5);
  (void)must_build();
  auto dry = options();
  dry.dry_run = true;
  std::vector<BuildPreview> previews;
  const auto report = build_cache(
      dry, {.before = [&](const BuildPreview& preview) { previews.push_back(preview); }});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_THAT(previews, SizeIs(1));
  EXPECT_EQ(previews[0].to_compute_count, 0U);
  EXPECT_EQ(previews[0].reused_count, 5U);
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
      {.cache = cache(), .repair = true},
      {.progress = [&](const VerifyProgress& progress) { stages.push_back(progress.stage); }});
  ASSERT_TRUE(mended.ok()) << mended.status().message();
  EXPECT_TRUE(mended->ok);
  EXPECT_THAT(mended->repaired, SizeIs(1));
  EXPECT_THAT(stages, ::testing::Contains(VerifyStage::kRepair));
  EXPECT_TRUE(contents(shard()) == sound);
}

// Messages name options as the caller sets them, not as the command line has them.
TEST_F(PublicBuilder, NamesItsOwnOptionsInMessages) {
  add_clips(4);
  (void)must_build();
  ASSERT_TRUE(fs::remove(data() + "/clip-1000.wav"));
  auto again = options();
  const std::string gone = build_cache(again).status().message();
  EXPECT_THAT(gone, HasSubstr("Run again with max_gone=\"25%\" to take"));
  EXPECT_THAT(gone, Not(HasSubstr("--")));
  again.max_gone = "25%";
  EXPECT_TRUE(build_cache(again).ok());
  again.settings = {"max_frames=0"};
  EXPECT_THAT(build_cache(again).status().message(), HasSubstr("settings=[\"max_frames=0\"]: "));
  EXPECT_THAT(describe_recipe(again).status().message(),
              HasSubstr("settings=[\"max_frames=0\"]: "));
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
  wrong.program = "/nowhere/xtts-decode";
  const Status status = build_cache(wrong).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/xtts-decode cannot be run: No such file"));
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

// A callback's exception is the user's; it stops the work and is told.
TEST_F(PublicBuilder, CallbackThatThrowsStopsTheWorkAndIsTold) {
  add_clips(30);
  const auto thrower = [](const auto&) { throw std::runtime_error("the user's own"); };
  for (const BuildCallbacks& callbacks :
       {BuildCallbacks{.before = thrower}, BuildCallbacks{.progress = thrower},
        BuildCallbacks{.cancelled = []() -> bool { throw 7; }}}) {
    const Status status = build_cache(options(), callbacks).status();
    EXPECT_EQ(status.code(), StatusCode::kCancelled);
    EXPECT_THAT(status.message(), HasSubstr("has thrown: "));
  }
  (void)must_build();
  const Status status = verify_cache({.cache = cache()}, {.progress = thrower}).status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_THAT(status.message(), HasSubstr("`progress` has thrown: the user's own"));
}

TEST_F(PublicBuilder, TextsThatNoFileCanHaveAreRefusedByName) {
  add_clips(1);
  const std::string with_zero = data() + std::string(1, '\0') + "more";
  std::string BuildOptions::*const fields[] = {
      &BuildOptions::data,   &BuildOptions::cache,          &BuildOptions::recipe,
      &BuildOptions::config, &BuildOptions::layout_of_data, &BuildOptions::language,
      &BuildOptions::store,  &BuildOptions::speakers_file,  &BuildOptions::layout,
      &BuildOptions::dtype,  &BuildOptions::device,         &BuildOptions::isa,
      &BuildOptions::memory, &BuildOptions::max_rejects,    &BuildOptions::partition,
      &BuildOptions::program};
  for (std::string BuildOptions::*field : fields) {
    BuildOptions wrong = options();
    wrong.*field = with_zero;
    const Status status = build_cache(wrong).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("holds a zero byte"));
  }
  BuildOptions wrong = options();
  wrong.settings = {"max_frames=1" + std::string(1, '\0')};
  EXPECT_EQ(build_cache(wrong).status().code(), StatusCode::kInvalidArgument);
  wrong = options();
  wrong.data.clear();
  EXPECT_EQ(build_cache(wrong).status().message(), "data is empty");
  wrong = options();
  wrong.cache = std::string(5000, 'c');
  EXPECT_THAT(build_cache(wrong).status().message(), HasSubstr("cache has 5000 bytes"));
  EXPECT_EQ(verify_cache({.cache = with_zero}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(verify_cache({.cache = ""}).status().message(), "cache is empty");
  EXPECT_EQ(describe_recipe({.recipe = with_zero}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(build_cache(options(), {}, sizeof(BuildOptions) - 8).status().code(),
            StatusCode::kUnsupported);
}

TEST_F(PublicBuilder, ProgramThatIsNoWorkerIsNamed) {
  add_clips(2);
  BuildOptions wrong = options();
  wrong.program = "/bin/true";
  const Status status = build_cache(wrong).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("(/bin/true) does not start"));
  EXPECT_THAT(status.message(), HasSubstr("it has to be the program xtts-decode of this version"));
}

// In a child whose address space ends soon. oneTBB's threads ended the process here.
TEST_F(PublicBuilder, ThreadsThatTheSystemRefusesAreDoneWithout) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than there is here";
#endif
  add_clips(60);
  for (const std::uint32_t threads : {32U, 1000U, 1000U, 1000U}) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(100);
      const rlimit limit{std::uint64_t{1} << 30U, std::uint64_t{1} << 30U};
      if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(9);
      BuildOptions many = options();
      many.thread_count = threads;
      const auto report = build_cache(many);
      ::_exit(report.ok() ? 0 : report.status().code() == StatusCode::kResource ? 1 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << threads << " threads: signal " << WTERMSIG(status);
    EXPECT_LT(WEXITSTATUS(status), 2);
  }
  EXPECT_EQ(must_build().record_count, 60U);
}

TEST_F(PublicBuilder, ChildOfAProcessThatHasBuiltMayBuildToo) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no threads in a forked child";
#endif
  add_clips(6);
  (void)must_build();
  add_clips(20);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(100);
    const auto report = build_cache(options());
    ::_exit(report.ok() && report->record_count == 20 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(PublicBuilder, ColumnWriterIsDoneWithAfterFinishAndWhenMoved) {
  add_clips(3);
  (void)must_build();
  const NewColumnOptions column = {.cache = cache(),
                                   .name = "energy_2",
                                   .version = "1",
                                   .axis = ColumnAxis::kFixed,
                                   .row_shape = {1}};
  auto writer = ColumnWriter::open(column);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  EXPECT_EQ(writer->finish().status().code(), StatusCode::kInvalidArgument);  // nothing was put
  const float number = 1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(writer->next().ok());
    ASSERT_TRUE(writer->put(std::as_bytes(std::span(&number, 1))).ok());
  }
  ASSERT_TRUE(writer->finish().ok());
  for (int again = 0; again < 2; ++again) {
    const Status status = writer->finish().status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("finish() has been called"));
  }
  EXPECT_EQ(writer->put({}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(writer->next().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(writer->next(UINT64_MAX).status().code(), StatusCode::kInvalidArgument);

  const ColumnWriter other = std::move(*writer);
  EXPECT_THAT(writer->finish().status().message(), HasSubstr("moved from"));
  EXPECT_THAT(writer->put({}).message(), HasSubstr("moved from"));
  EXPECT_EQ(writer->clip_count() + writer->done_count(), 0U);

  NewColumnOptions wrong = column;
  wrong.name.clear();
  EXPECT_EQ(ColumnWriter::open(wrong).status().message(), "the column's name is empty");
  wrong = column;
  wrong.axis = static_cast<ColumnAxis>(9);
  EXPECT_EQ(ColumnWriter::open(wrong).status().code(), StatusCode::kInvalidArgument);
  wrong = column;
  wrong.dtype = static_cast<DType>(77);
  EXPECT_EQ(ColumnWriter::open(wrong).status().code(), StatusCode::kInvalidArgument);
  wrong = column;
  wrong.version = std::string("1\0", 2);
  EXPECT_EQ(ColumnWriter::open(wrong).status().code(), StatusCode::kInvalidArgument);

  auto sound = SoundReader::open(cache(), data(), "");
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  const SoundReader moved = std::move(*sound);
  EXPECT_EQ(sound->sample_rate_hz(), 0U);
  EXPECT_THAT(sound->read(0).status().message(), HasSubstr("moved from"));
  EXPECT_EQ(SoundReader::open("", "", "").status().message(), "cache is empty");
}

TEST_F(PublicBuilder, DescribesTheRecipeThatABuildWouldUse) {
  add_clips(1);
  auto asked = options();
  asked.config = folder_.write(
      "config.yaml",
      "data: {n_mels: 100, batch_size: 16, enable_pitch_shift: yes, text_cleaners: [a], "
      "use_tf_native_loading: no}\n");
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
  ASSERT_GT(keys.size(), 6U);
  EXPECT_EQ(keys[0]["class"], "honoured");
  EXPECT_EQ(keys[0]["recipe_key"], "features.mel.n_mels");
  EXPECT_EQ(keys[1]["class"], "no effect");
  EXPECT_EQ(keys[1]["value"], "16");
  EXPECT_EQ(keys[2]["class"], "not reproduced");
  EXPECT_EQ(keys[3]["items"], nlohmann::json({"a"}));
  EXPECT_FALSE(keys[4]["default"]);
  // A value that the file does not give, the trainer takes otherwise.
  EXPECT_TRUE(keys[5]["default"]);
  EXPECT_EQ(recipe["name"], "myxtts");
  EXPECT_EQ(recipe["sections"]["features"]["too_long"], "truncate");
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
