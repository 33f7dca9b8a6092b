// Clips computed when they are asked for, by the public headers alone: beside caches that the same
// library builds of the same data, which the reader's library reads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/temp_folder.hpp"
#include "support/wav_file.hpp"
#include "xtts/batch.hpp"
#include "xtts/builder.hpp"
#include "xtts/reader.hpp"
#include "xtts/runtime.hpp"

namespace xtts {

void PrintTo(const RejectedClip& reject, std::ostream* out) {
  *out << reject.id << " (" << reject.place << "): " << reject.stage << ", " << reject.kind << ": "
       << reject.reason;
}
bool operator==(const RejectedClip& one, const RejectedClip& other) {
  return one.kind == other.kind && one.stage == other.stage && one.id == other.id &&
         one.place == other.place && one.reason == other.reason;
}

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFixtures = std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data/";
const std::vector<std::string> kFormats = {
    "sweep_22050_1.flac", "sweep_22050_1.m4a",  "sweep_22050_1.mp3", "sweep_22050_1.ogg",
    "sweep_44100_1.aac",  "sweep_44100_2.flac", "sweep_44100_2.mp3", "sweep_48000_1.opus",
    "sweep_48000_2.opus", "itunes_44100_1.m4a"};

class PublicRuntime : public ::testing::TestWithParam<std::vector<std::string>> {
 protected:
  PublicRuntime() {
    for (const std::string& name : kFormats) add_copy(name);
    for (int number = 0; number < 12; ++number) {
      const std::uint32_t rate_hz = number % 3 == 0 ? 8000 : number % 3 == 1 ? 22050 : 44100;
      const auto channel_count = static_cast<std::uint16_t>(1 + number % 2);
      const testing::WavShape shape = {0.2 + 0.03 * number, rate_hz, channel_count};
      add("tone-" + std::to_string(100 + number) + ".wav",
          number % 4 == 0 ? testing::noise_wav(static_cast<std::uint32_t>(number), shape)
                          : testing::tone_wav(150.0 + 40.0 * number, shape));
    }
    add("bad-empty.wav", "");
    add("bad-text.wav", "this is no sound at all, but some words about one");
    add("bad-cut.flac", contents(kFixtures + "sweep_22050_1.flac").substr(0, 40));
    add("bad-long.wav", testing::tone_wav(300.0, {.seconds = 4.0}));  // too long, with a text
    list_ += "gone.wav,it is not there,ada,en\n";
    (void)folder_.write("data/metadata.csv", list_);
  }

  void add(const std::string& name, const std::string& bytes) {
    (void)folder_.write("data/" + name, bytes);
    ++number_;
    list_ += name + ",this is " + name + "," + (number_ % 3 == 0 ? "björn" : "ada") + "," +
             (number_ % 4 == 0 ? "fa" : "en") + "\n";
  }
  // By another name: clips are called by their files without the ending.
  void add_copy(const std::string& name) {
    std::string other = name;
    std::ranges::replace(other, '.', '-');
    add(other + name.substr(name.rfind('.')), contents(kFixtures + name));
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[nodiscard]] BuildOptions options(std::vector<std::string> more = {}) const {
    std::vector<std::string> settings = {"max_tokens=64", "features.too_long=drop"};
    std::string recipe = "myxtts";
    for (std::string& setting : more) {
      if (setting.starts_with("recipe=")) {
        recipe = setting.substr(7);
      } else {
        settings.push_back(std::move(setting));
      }
    }
    return {.data = folder_.path() + "/data",
            .recipe = recipe,
            .settings = settings,
            .max_rejects = "100%",
            .max_dropped = "100%",
            .thread_count = 2};
  }
  [[nodiscard]] BuildReport must_build(BuildOptions options) const {
    options.cache = folder_.path() + "/cache";
    const auto report = build_cache(options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : BuildReport{};
  }
  static RuntimeClips must_open(const BuildOptions& options) {
    auto clips = RuntimeClips::open(options);
    EXPECT_TRUE(clips.ok()) << clips.status().message();
    if (!clips.ok()) throw std::runtime_error("no clips");
    return std::move(*clips);
  }
  [[nodiscard]] Cache must_read() const {
    auto cache = Cache::open(folder_.path() + "/cache");
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    if (!cache.ok()) throw std::runtime_error("no cache");
    return std::move(*cache);
  }

  testing::TempFolder folder_;
  std::string list_ = "file,text,speaker,language\n";
  int number_ = 0;
};

std::vector<RejectedClip> sorted(std::vector<RejectedClip> rejects) {
  std::ranges::sort(rejects, {}, [](const RejectedClip& reject) {
    return std::pair(reject.id, reject.place + reject.reason);
  });
  return rejects;
}

// All columns of a record as the cache has them.
void expect_same_record(const Cache& cache, std::uint64_t position, const RuntimeRecord& record) {
  const auto columns = cache.columns();
  ASSERT_EQ(record.columns.size(), columns.size());
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto stored = cache.read(columns[column].name, position);
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    EXPECT_EQ(record.columns[column].length, stored->shape()[0]);
    EXPECT_EQ(record.columns[column].padding, stored->padding());
    EXPECT_TRUE(std::ranges::equal(record.columns[column].rows, stored->bytes()))
        << columns[column].name;
  }
}

void expect_same_tables(const Cache& cache, const RuntimeClips& clips) {
  EXPECT_EQ(clips.features_fingerprint(), cache.features_fingerprint());
  EXPECT_EQ(clips.text_fingerprint(), cache.text_fingerprint());
  EXPECT_THAT(clips.speakers(), ElementsAreArray(cache.speakers()));
  EXPECT_THAT(clips.languages(), ElementsAreArray(cache.languages()));
  const auto columns = clips.columns();
  const auto stored = cache.columns();
  ASSERT_EQ(columns.size(), stored.size());
  for (std::size_t column = 0; column < columns.size(); ++column) {
    EXPECT_EQ(columns[column].name, stored[column].name);
    EXPECT_EQ(columns[column].dtype, stored[column].dtype);
    EXPECT_EQ(columns[column].shape, stored[column].shape);
  }
}

TEST_P(PublicRuntime, MakesTheRecordsAndRejectsOfACacheBitForBit) {
  const BuildReport report = must_build(options(GetParam()));
  const Cache cache = must_read();
  const RuntimeClips clips = must_open(options(GetParam()));
  expect_same_tables(cache, clips);

  std::vector<RejectedClip> rejects = clips.planned_rejects();
  std::vector<std::string> ids;
  for (std::uint64_t position = 0; position < clips.size(); ++position) {
    const auto clip = clips.clip(position);
    ASSERT_TRUE(clip.ok());
    const auto record = clips.record(position);
    ASSERT_TRUE(record.ok()) << record.status().message();
    if (record->reject) {
      EXPECT_THAT(record->columns, IsEmpty());
      rejects.push_back(*record->reject);
      continue;
    }
    const auto stored = cache.clip(ids.size());
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    SCOPED_TRACE(clip->id);
    EXPECT_EQ(clip->id, stored->id);
    EXPECT_EQ(clip->split, stored->split);
    EXPECT_EQ(clip->speaker, stored->speaker);
    EXPECT_EQ(clip->language, stored->language);
    EXPECT_EQ(clip->text, stored->text);
    EXPECT_EQ(record->duration_s, stored->duration_s);
    expect_same_record(cache, ids.size(), *record);
    ids.push_back(clip->id);
  }
  EXPECT_EQ(ids.size(), cache.size());
  EXPECT_GE(ids.size(), 20U);
  EXPECT_GE(rejects.size(), 4U);
  EXPECT_THAT(sorted(rejects), ElementsAreArray(sorted(report.rejects)));
  EXPECT_GE(clips.fault_count(), 3U);
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, PublicRuntime,
    ::testing::Values(std::vector<std::string>{"max_frames=200"},
                      std::vector<std::string>{"max_frames=200", "columns.linear=true",
                                               "columns.wave=int16", "columns.energy=true"},
                      std::vector<std::string>{"max_frames=200", "storage.layout=packed",
                                               "storage.dtype=float16"},
                      std::vector<std::string>{"max_frames=200", "normalize.method=mean_variance"},
                      std::vector<std::string>{"recipe=whisper-80", "max_frames=300"},
                      std::vector<std::string>{"recipe=wave-22k", "max_frames=200"}));

class PublicRuntimeCalls : public PublicRuntime {};

// Without the clips that a build rejects, whose places in the order a cache does not have.
TEST_F(PublicRuntimeCalls, GiveTheBatchesOfACacheToAReader) {
  const auto report = must_build(options({"max_frames=200"}));
  const Cache cache = must_read();
  const RuntimeClips clips = must_open(options({"max_frames=200"}));
  ReaderOptions reading = {.seed = 5, .last_batch = LastBatch::kPad, .buckets = {{4, 60}, {3}}};
  for (const RejectedClip& reject : report.rejects) {
    if (clips.find(reject.id)) reading.exclude.push_back(reject.id);
  }
  auto made = Reader::open(clips.source(), reading);
  ASSERT_TRUE(made.ok()) << made.status().message();
  reading.exclude.clear();
  auto stored = Reader::open(cache, reading);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  EXPECT_GT(made->batches_per_epoch(), 3U);
  for (;;) {
    const auto one = made->next();
    const auto other = stored->next();
    ASSERT_TRUE(one.ok() && other.ok()) << one.status().message();
    ASSERT_EQ(one->has_value(), other->has_value());
    if (!*one) break;
    for (const BatchColumn& column : (*other)->columns()) {
      const BatchColumn* const computed = (*one)->find(column.name);
      ASSERT_NE(computed, nullptr);
      EXPECT_TRUE(std::ranges::equal(computed->bytes, column.bytes)) << column.name;
      EXPECT_THAT(computed->lengths, ElementsAreArray(column.lengths));
    }
    EXPECT_THAT((*one)->speakers(), ElementsAreArray((*other)->speakers()));
  }
  EXPECT_THAT(made->left_out(), IsEmpty());
}

TEST_F(PublicRuntimeCalls, FindClipsByTheirIds) {
  const RuntimeClips clips = must_open(options({"max_frames=200"}));
  for (std::uint64_t position = 0; position < clips.size(); ++position)
    EXPECT_EQ(clips.find(clips.clip(position)->id), position);
  EXPECT_EQ(clips.find("gone"), std::nullopt);
  EXPECT_EQ(clips.clip(clips.size()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(clips.record(clips.size()).status().code(), StatusCode::kNotFound);
}

TEST_F(PublicRuntimeCalls, RefuseWhatMeansNothingWithoutACache) {
  auto with_cache = options();
  with_cache.cache = folder_.path() + "/cache";
  EXPECT_EQ(RuntimeClips::open(with_cache).status().code(), StatusCode::kInvalidArgument);
  auto overwriting = options();
  overwriting.overwrite = true;
  EXPECT_THAT(RuntimeClips::open(overwriting).status().message(),
              HasSubstr("overwrite is for caches"));
  EXPECT_EQ(RuntimeClips::open(options({"corpus.duplicates=drop"})).status().code(),
            StatusCode::kUnsupported);
  EXPECT_EQ(RuntimeClips::open(options({"no.such.key=1"})).status().code(),
            StatusCode::kInvalidArgument);
  auto nowhere = options();
  nowhere.data = folder_.path() + "/nowhere";
  EXPECT_EQ(RuntimeClips::open(nowhere).status().code(), StatusCode::kNotFound);
  auto without_program = options();
  without_program.program = folder_.path() + "/no-program";
  EXPECT_THAT(RuntimeClips::open(without_program).status().message(), HasSubstr("no-program"));
}

// As a build does: a list whose texts would be lost ends it, unless the sound alone is asked for.
TEST_F(PublicRuntimeCalls, TakeTheSoundAloneOfListsThatNobodyCanRead) {
  for (const char* const name : {"one", "two"}) {
    (void)folder_.write(std::string("unread/") + name + ".wav",
                        testing::tone_wav(220.0, {.seconds = 0.3}));
  }
  (void)folder_.write("unread/train.csv",
                      "sound_of_it,bytes,what_is_said\none.wav,1,Hello.\ntwo.wav,1,Hello.\n");
  auto unread = options();
  unread.data = folder_.path() + "/unread";
  const Status refused = RuntimeClips::open(unread).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("or give no_text=True"));
  EXPECT_THAT(refused.message(), HasSubstr("layout_of_data=\"folder\" takes the sound alone"));
  unread.no_text = true;
  const RuntimeClips clips = must_open(unread);
  ASSERT_EQ(clips.size(), 2U);
  EXPECT_EQ(clips.clip(0)->text, "");
  const auto record = clips.record(0);
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_FALSE(record->reject) << record->reject->reason;
}

TEST_F(PublicRuntimeCalls, SeeAFileThatIsThereAgain) {
  const RuntimeClips clips = must_open(options({"max_frames=200"}));
  const auto position = clips.find("tone-101");
  ASSERT_TRUE(position.has_value());
  const std::string file = folder_.path() + "/data/tone-101.wav";
  const std::uint64_t faults_before = clips.fault_count();
  fs::rename(file, file + ".away");
  const auto missing = clips.record(*position);
  ASSERT_TRUE(missing.ok() && missing->reject.has_value());
  EXPECT_EQ(missing->reject->kind, "environment");
  EXPECT_EQ(clips.fault_count(), faults_before + 1);
  fs::rename(file + ".away", file);
  const auto there = clips.record(*position);
  ASSERT_TRUE(there.ok());
  EXPECT_FALSE(there->reject.has_value());
  EXPECT_EQ(clips.fault_count(), faults_before);
}

// Lie there, as long as this lives.
class TemporaryFiles {
 public:
  explicit TemporaryFiles(const std::string& folder) {
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFiles() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

 private:
  std::optional<std::string> before_;
};

std::size_t open_files_below(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& descriptor : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor that lists them
    const fs::path target = fs::read_symlink(descriptor.path(), gone);
    if (!gone && target.string().starts_with(folder + "/")) ++count;
  }
  return count;
}

TEST_F(PublicRuntimeCalls, LeaveNoFolderBehind) {
  const std::string folder = folder_.path() + "/temporary";
  fs::create_directory(folder);
  const TemporaryFiles here(folder);
  {
    const RuntimeClips clips = must_open(options({"max_frames=200"}));
    EXPECT_TRUE(clips.record(0).ok());
    EXPECT_TRUE(fs::is_empty(folder));  // nothing is long, or shared
  }
  add("long.wav", testing::noise_wav(1, {.seconds = 15.0}));
  (void)folder_.write("data/metadata.csv", list_);
  {
    auto with_little_memory = options({"max_frames=200", "features.too_long=truncate"});
    with_little_memory.memory = "512M";
    with_little_memory.thread_count = 300;
    const RuntimeClips clips = must_open(with_little_memory);
    const auto record = clips.record(clips.find("long").value_or(0));
    EXPECT_TRUE(record.ok() && !record->reject);
    EXPECT_GT(open_files_below(folder), 0U);
    EXPECT_TRUE(fs::is_empty(folder));  // the file has no name
  }
  EXPECT_EQ(open_files_below(folder), 0U);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(PublicRuntimeCalls, AreTheParentsBusinessAfterAFork) {
  const RuntimeClips clips = must_open(options({"max_frames=200"}));
  ASSERT_TRUE(clips.record(0).ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto is_refused = [](const Status& status) {
      return status.code() == StatusCode::kUnsupported &&
             status.message().find("forked") != std::string::npos;
    };
    if (!is_refused(clips.record(0).status())) ::_exit(1);
    if (!is_refused(Reader::open(clips.source(), {}).status())) ::_exit(2);
    if (!is_refused(clips.source()->check_rejects())) ::_exit(3);
    if (!clips.source()->rejected().empty()) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(clips.record(0).ok());
}

TEST(PublicRuntimeMoved, ClipsAreEmptyAndSaySo) {
  const testing::TempFolder folder;
  (void)folder.write("a.wav", testing::tone_wav(200.0, {.seconds = 0.3}));
  const std::string with_zero = folder.path() + std::string(1, '\0');
  EXPECT_EQ(RuntimeClips::open({.data = with_zero}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(RuntimeClips::open({}).status().message(), "data is empty");
  auto clips = RuntimeClips::open({.data = folder.path()});
  ASSERT_TRUE(clips.ok()) << clips.status().message();
  const RuntimeClips other = std::move(*clips);
  EXPECT_EQ(other.size(), 1U);
  EXPECT_THAT(clips->clip(0).status().message(), HasSubstr("moved from"));
  EXPECT_THAT(clips->record(0).status().message(), HasSubstr("moved from"));
  EXPECT_EQ(clips->size() + clips->fault_count() + clips->faults_allowed(), 0U);
  EXPECT_FALSE(clips->find("a").has_value());
  EXPECT_TRUE(clips->columns().empty() && clips->speakers().empty() && clips->languages().empty() &&
              clips->planned_rejects().empty());
  EXPECT_EQ(clips->recipe_name() + clips->layout_of_data() + clips->digest() +
                clips->features_fingerprint() + clips->text_fingerprint(),
            "");
}

}  // namespace
}  // namespace xtts
