// Parquet files and Arrow streams that pyarrow wrote (huggingface/make_files.py), and what becomes
// of them when they are damaged. Python reads them, in a process of its own, so they are files of
// the real file system. Where no Python has pyarrow, these tests say that they skip.
#include "corpus/files/column_files.hpp"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "corpus/files/find_source.hpp"
#include "corpus/files/row_server.hpp"
#include "support/temp_folder.hpp"
#include "tests/unit/corpus/corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::TempFolder;

// tests/run.sh installs pyarrow there.
void choose_python() {
  const std::string python = std::string(XTTS_SOURCE_DIR) + "/build/arrow-env/bin/python";
  if (std::filesystem::exists(python)) ::setenv("XTTS_PYTHON", python.c_str(), /*overwrite=*/0);
}

std::string column_file(const std::string& name) {
  const std::string path = std::string(XTTS_SOURCE_DIR) + "/tests/unit/corpus/huggingface/" + name;
  auto bytes = read_text_file(Env::real(), path, 1U << 20U);
  EXPECT_TRUE(bytes.ok()) << path;
  return bytes.ok() ? *bytes : std::string();
}

class ColumnFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    choose_python();
    const std::string path = folder_.write("probe/stream.arrow", column_file("stream.arrow"));
    const auto rows = open_column_rows(env_, path, ColumnFileKind::kArrowStream, RowParts::kAll);
    if (rows.status().code() == StatusCode::kUnsupported) GTEST_SKIP() << rows.status().message();
    ASSERT_TRUE(rows.ok()) << rows.status().message();
  }

  void add(const std::string& path, std::string_view bytes) {
    (void)folder_.write("data/" + path, bytes);
  }
  [[nodiscard]] Result<Corpus> look(const formats::CorpusConfig& config = {}) {
    return discover(env_, data_, config);
  }
  [[nodiscard]] Corpus discovered(const formats::CorpusConfig& config = {}) {
    auto corpus = look(config);
    EXPECT_TRUE(corpus.ok()) << corpus.status().message();
    return corpus.ok() ? std::move(*corpus) : Corpus();
  }
  [[nodiscard]] std::string bytes_at(const SourcePlace& place) {
    const auto file = open_source(env_, place);
    if (!file.ok()) return file.status().message();
    std::string bytes((*file)->size_bytes(), '\0');
    const auto got = (*file)->read_at(0, std::as_writable_bytes(std::span<char>(bytes)));
    return got.ok() ? bytes : got.status().message();
  }
  // All that can be said of the rows of `bytes`, without a crash and within the file.
  [[nodiscard]] std::string rows_of(const std::string& bytes, ColumnFileKind kind) {
    // Files of one path, size and time could be taken for one another.
    const std::string path = folder_.write(
        std::to_string(file_count_++) + (kind == ColumnFileKind::kParquet ? ".parquet" : ".arrow"),
        bytes);
    auto rows = open_column_rows(env_, path, kind, RowParts::kAll);
    std::string text;
    while (rows.ok()) {
      auto row = rows->next();
      if (!row.ok()) return text + row.status().message();
      if (!*row) return text + "end";
      const auto& sound = (*row)->sound;
      if (sound && (*row)->row) {
        (void)sound_of_row(env_, path, *(*row)->row);
      } else if (sound) {
        EXPECT_LE(sound->offset_bytes, bytes.size());
        EXPECT_LE(sound->size_bytes, bytes.size() - sound->offset_bytes);
      }
      text += (*row)->fault.value_or("row") + "\n";
    }
    return text + rows.status().message();
  }

  Env& env_ = Env::real();
  TempFolder folder_;
  int file_count_ = 0;
  const std::string data_ = folder_.path() + "/data";
};

// Kills the process that reads for this one: its only child, if it has one.
void kill_reader() {
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  if (pid_t process = 0; children >> process) ::kill(process, SIGKILL);
}

TEST_F(ColumnFiles, AStreamIsReadInPlace) {
  for (const std::string name : {"stream.arrow", "large.arrow"}) {
    add("train/data-00000-of-00001.arrow", column_file(name));
    const Corpus corpus = discovered();
    EXPECT_EQ(corpus.layout, "huggingface");
    EXPECT_EQ(corpus.ignored_file_count, 0U);
    ASSERT_EQ(corpus.clips.size(), 3U) << name << "\n" << problems_of(corpus);
    for (const Clip& clip : corpus.clips) {
      const std::string number(1, clip.text_raw.view().back());
      EXPECT_EQ(clip.text_raw, "Text of row " + number);
      EXPECT_EQ(clip.source, "train/data-00000-of-00001.arrow/0000000" + number + ".wav");
      const SourcePlace place = corpus.place_of(clip);
      EXPECT_EQ(place.path, data_ + "/train/data-00000-of-00001.arrow");
      EXPECT_EQ(bytes_at(place), "RIFF of row " + number) << name;
      const auto found = find_source(env_, {data_}, clip.source);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(*found, place);
    }
    EXPECT_TRUE(says(problems_of(corpus), "00000001 ")) << problems_of(corpus);
    EXPECT_TRUE(says(problems_of(corpus), "has no sound"));
    EXPECT_TRUE(says(problems_of(corpus), "wavs/outside.wav")) << "a file that is not there";
  }
}

// Pages that are packed or not, of both versions, with and without a dictionary, of one and of
// several row groups.
TEST_F(ColumnFiles, ParquetIsReadRowByRow) {
  for (const std::string name :
       {"plain.parquet", "plain_v2.parquet", "dictionary.parquet", "snappy.parquet",
        "snappy_dictionary.parquet", "zstd_v2.parquet"}) {
    add("data/train-00000-of-00001.parquet", column_file(name));
    const Corpus corpus = discovered();
    EXPECT_EQ(corpus.layout, "huggingface");
    ASSERT_EQ(ids_of(corpus), (Ids{"100", "103", "104"})) << name << "\n" << problems_of(corpus);
    for (const Clip& clip : corpus.clips) {
      const std::string number(clip.id.view().substr(2));
      EXPECT_EQ(clip.text_raw, "Text of row " + number);
      EXPECT_EQ(clip.source, "data/train-00000-of-00001.parquet/0000000" + number + ".wav");
      EXPECT_TRUE(clip.row) << name;
      EXPECT_EQ(bytes_at(corpus.place_of(clip)), "RIFF of row " + number) << name;
      const auto found = find_source(env_, {data_}, clip.source);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(found->key(), corpus.place_of(clip).key());
      EXPECT_EQ(bytes_at(*found), "RIFF of row " + number) << name;
    }
    EXPECT_TRUE(says(problems_of(corpus), "has no sound")) << problems_of(corpus);
    EXPECT_TRUE(says(problems_of(corpus), "wavs/outside.wav")) << "a file that is not there";
  }
}

TEST_F(ColumnFiles, ColumnsSayWhatListsSay) {
  for (const std::string name : {"a.arrow", "a.parquet"}) {
    add(name, column_file(name == "a.arrow" ? "stream.arrow" : "plain.parquet"));
    add("wavs/outside.wav", "RIFF");
    const Corpus corpus = discovered({.layout = "huggingface"});
    EXPECT_EQ(ids_of(corpus), (Ids{"100", "102", "103", "104"}));
    EXPECT_EQ(clip_of(corpus, "102").source, "wavs/outside.wav");
    EXPECT_EQ(clip_of(corpus, "103").speaker, "1");
    EXPECT_EQ(clip_of(corpus, "103").extra_json,
              R"({"recorded":"2024-05-17","words":[{"start":0.5,"word":"Text"}]})");
    EXPECT_TRUE(says(notes_of(corpus), "columns that are not kept: embedding")) << notes_of(corpus);
    std::filesystem::remove_all(data_);
  }
}

TEST_F(ColumnFiles, WhatDoesNotTellRowsApartIsNoId) {
  add("train/data-00000-of-00001.arrow", column_file("stream.arrow"));
  add("test/data-00000-of-00001.arrow", column_file("stream.arrow"));
  const Corpus corpus = discovered();
  EXPECT_TRUE(says(notes_of(corpus), "ids are FILE/ROW")) << notes_of(corpus);
  EXPECT_EQ(clip_of(corpus, "train/data-00000-of-00001/00000003").split, Split::kTrain);
  const Clip test = clip_of(corpus, "test/data-00000-of-00001/00000003");
  EXPECT_EQ(test.split, Split::kTest);
  EXPECT_TRUE(says(test.extra_json, R"("id":103)")) << test.extra_json;
}

TEST_F(ColumnFiles, ARowWithoutANameMakesRowsTheIds) {
  add("a.arrow", column_file("large.arrow"));  // row 1 has no name
  EXPECT_EQ(ids_of(discovered()), (Ids{"a/00000000", "a/00000003", "a/00000004"}));
}

TEST_F(ColumnFiles, WhatIsNotReadIsSaid) {
  for (const auto& [name, reason] :
       {std::pair("packed.arrow", "write it again without compression"),
        std::pair("texts.arrow", "has no column of encoded sound"),
        std::pair("texts.parquet", "has no column of encoded sound")}) {
    add(name, column_file(name));
    const Status refusal = look().status();
    EXPECT_EQ(refusal.code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(says(refusal.message(), reason)) << refusal.message();
    std::filesystem::remove_all(data_);
  }
}

TEST_F(ColumnFiles, AStreamThatIsCutEndsInWords) {
  const std::string bytes = column_file("stream.arrow");
  EXPECT_TRUE(rows_of(bytes, ColumnFileKind::kArrowStream).ends_with("row\nend"));
  for (std::size_t size = 0; size < bytes.size() - 8; ++size) {
    const std::string told = rows_of(bytes.substr(0, size), ColumnFileKind::kArrowStream);
    ASSERT_FALSE(told.ends_with("end")) << size << "\n" << told;
  }
}

TEST_F(ColumnFiles, AParquetFileThatIsCutEndsInWords) {
  const std::string bytes = column_file("plain.parquet");
  EXPECT_TRUE(rows_of(bytes, ColumnFileKind::kParquet).ends_with("row\nend"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string told = rows_of(bytes.substr(0, size), ColumnFileKind::kParquet);
    ASSERT_FALSE(told.ends_with("end")) << size << "\n" << told;
  }
}

TEST_F(ColumnFiles, MetadataTrainFileChoosesFiles) {
  add("a-train.arrow", column_file("stream.arrow"));
  add("b-train.arrow", column_file("large.arrow"));
  const Corpus corpus = discovered({.layout = "huggingface", .metadata_train_file = "a-tr*.arrow"});
  EXPECT_EQ(ids_of(corpus), (Ids{"100", "103", "104"}));
  EXPECT_FALSE(look({.layout = "huggingface", .metadata_train_file = "c*.arrow"}).ok());
}

TEST_F(ColumnFiles, AReaderThatIsKilledIsStartedAgain) {
  add("train.parquet", column_file("snappy.parquet"));
  const Corpus corpus = discovered();
  const SourcePlace place = corpus.place_of(clip_of(corpus, "103"));
  EXPECT_EQ(bytes_at(place), "RIFF of row 3");
  kill_reader();
  EXPECT_EQ(bytes_at(place), "RIFF of row 3");
}

TEST_F(ColumnFiles, AReaderThatFailsIsTold) {
  add("train.parquet", column_file("snappy.parquet"));
  const char* const before = ::getenv("XTTS_PYTHON");
  const std::string python = before == nullptr ? "" : before;
  for (const auto& [after_request, told] :
       {std::pair("exit 3", "twice (exit code 3)"), std::pair("kill -9 $$", "twice (signal 9)"),
        std::pair("printf 'a page of another kind' >&0; sleep 9", "what is no answer")}) {
    const std::string script = folder_.write(
        "python", "#!/bin/sh\nprintf 'o\\0\\0\\0\\0\\0\\0\\0\\0' >&0\nhead -c 4 >/dev/null\n" +
                      std::string(after_request) + "\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    ::setenv("XTTS_PYTHON", script.c_str(), 1);
    kill_reader();
    const auto rows =
        open_column_rows(env_, data_ + "/train.parquet", ColumnFileKind::kParquet, RowParts::kAll);
    EXPECT_EQ(rows.status().code(), StatusCode::kSourceIo);
    EXPECT_TRUE(says(rows.status().message(), told)) << rows.status().message();
  }
  python.empty() ? ::unsetenv("XTTS_PYTHON") : ::setenv("XTTS_PYTHON", python.c_str(), 1);
}

TEST_F(ColumnFiles, AFileThatChangesIsNotReadAsTheOther) {
  const std::string path = folder_.write("a.parquet", column_file("snappy.parquet"));
  EXPECT_TRUE(sound_of_row(env_, path, 3).ok());
  (void)folder_.write("a.parquet", column_file("texts.parquet"));
  EXPECT_EQ(sound_of_row(env_, path, 3).status().code(), StatusCode::kBadInput);
}

// XTTS_EVERY_BYTE=1 damages each byte, instead of some.
TEST_F(ColumnFiles, NoByteOfThemLeadsOutOfTheFile) {
  const std::size_t step = ::getenv("XTTS_EVERY_BYTE") != nullptr ? 1 : 7;
  for (const std::string name :
       {"stream.arrow", "plain.parquet", "plain_v2.parquet", "snappy_dictionary.parquet"}) {
    const std::string bytes = column_file(name);
    const ColumnFileKind kind = column_file_kind(name).value();
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      constexpr std::array<char, 3> kDamage = {'\x00', '\x7F', '\xFF'};
      std::string damaged_bytes = bytes;
      damaged_bytes[i] = kDamage[i % kDamage.size()];
      (void)rows_of(damaged_bytes, kind);
    }
  }
}

}  // namespace
}  // namespace xtts::corpus
