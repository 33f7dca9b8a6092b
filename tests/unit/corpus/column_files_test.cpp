// Parquet files and Arrow streams that pyarrow wrote (huggingface/make_files.py), and what becomes
// of them when they are damaged. Builds without Apache Arrow's library skip all of it.
#include "corpus/column_files.hpp"

#include <array>

#include "corpus/find_source.hpp"
#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

class ColumnFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_column_files()) GTEST_SKIP() << "this build has no Apache Arrow library";
  }
};

std::string column_file(const std::string& name) {
  const std::string path = std::string(XTTS_SOURCE_DIR) + "/tests/unit/corpus/huggingface/" + name;
  auto bytes = read_text_file(Env::real(), path, 1U << 20U);
  EXPECT_TRUE(bytes.ok()) << path;
  return bytes.ok() ? *bytes : std::string();
}

std::string bytes_at(MemoryEnv& env, const SourcePlace& place) {
  const auto file = open_source(env, place);
  if (!file.ok()) return file.status().message();
  std::string bytes((*file)->size_bytes(), '\0');
  const auto got = (*file)->read_at(0, std::as_writable_bytes(std::span<char>(bytes)));
  return got.ok() ? bytes : got.status().message();
}

// All that can be said of rows of `bytes`, without a crash and within the file.
std::string rows_of(const std::string& bytes, ColumnFileKind kind) {
  MemoryEnv env;
  env.add_file("/file", bytes);
  const auto file = env.open_for_read("/file");
  auto rows = open_column_rows(**file, kind, RowParts::kAll);
  std::string text;
  while (rows.ok()) {
    auto row = (*rows)->next();
    if (!row.ok()) return text + row.status().message();
    if (!*row) return text + "end";
    const auto& sound = (*row)->sound;
    const std::uint64_t end = (*row)->page ? (*row)->page->unpacked_bytes : bytes.size();
    if (sound) {
      EXPECT_LE(sound->offset_bytes, end);
      EXPECT_LE(sound->size_bytes, end - sound->offset_bytes);
    }
    if (sound && (*row)->page) (void)bytes_at(env, {"/file", sound, (*row)->page});
    text += (*row)->fault.value_or("row") + "\n";
  }
  return text + rows.status().message();
}

TEST_F(ColumnFiles, AStreamIsReadInPlace) {
  for (const std::string name : {"stream.arrow", "large.arrow"}) {
    MemoryEnv env;
    env.add_file("/data/train/data-00000-of-00001.arrow", column_file(name));
    const Corpus corpus = discover_data(env);
    EXPECT_EQ(corpus.layout, "huggingface");
    EXPECT_EQ(corpus.ignored_file_count, 0U);
    ASSERT_EQ(corpus.clips.size(), 3U) << name << "\n" << problems_of(corpus);
    for (const Clip& clip : corpus.clips) {
      const std::string number(1, clip.text_raw.view().back());
      EXPECT_EQ(clip.text_raw, "Text of row " + number);
      EXPECT_EQ(clip.source, "train/data-00000-of-00001.arrow/0000000" + number + ".wav");
      const SourcePlace place = corpus.place_of(clip);
      EXPECT_EQ(place.path, "/data/train/data-00000-of-00001.arrow");
      EXPECT_EQ(bytes_at(env, place), "RIFF of row " + number) << name;
      const auto found = find_source(env, "/data", {}, clip.source);
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
TEST_F(ColumnFiles, ParquetIsReadInPlaceOrInItsPages) {
  for (const auto& [name, is_packed] :
       {std::pair("plain.parquet", false), std::pair("plain_v2.parquet", false),
        std::pair("dictionary.parquet", false), std::pair("snappy.parquet", true),
        std::pair("snappy_dictionary.parquet", true), std::pair("zstd_v2.parquet", true)}) {
    MemoryEnv env;
    env.add_file("/data/data/train-00000-of-00001.parquet", column_file(name));
    const Corpus corpus = discover_data(env);
    EXPECT_EQ(corpus.layout, "huggingface");
    ASSERT_EQ(ids_of(corpus), (Ids{"100", "103", "104"})) << name << "\n" << problems_of(corpus);
    for (const Clip& clip : corpus.clips) {
      const std::string number(clip.id.view().substr(2));
      EXPECT_EQ(clip.text_raw, "Text of row " + number);
      EXPECT_EQ(clip.source, "data/train-00000-of-00001.parquet/0000000" + number + ".wav");
      EXPECT_EQ(clip.page != nullptr, is_packed) << name;
      EXPECT_EQ(bytes_at(env, corpus.place_of(clip)), "RIFF of row " + number) << name;
      const auto found = find_source(env, "/data", {}, clip.source);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(found->key(), corpus.place_of(clip).key());
      EXPECT_EQ(bytes_at(env, *found), "RIFF of row " + number) << name;
    }
    EXPECT_EQ(says(notes_of(corpus), "3 sounds lie in compressed pages"), is_packed);
    EXPECT_TRUE(says(problems_of(corpus), "has no sound")) << problems_of(corpus);
    EXPECT_TRUE(says(problems_of(corpus), "wavs/outside.wav")) << "a file that is not there";
  }
}

TEST_F(ColumnFiles, ColumnsSayWhatListsSay) {
  for (const std::string name : {"a.arrow", "a.parquet"}) {
    MemoryEnv env;
    env.add_file("/data/" + name,
                 column_file(name == "a.arrow" ? "stream.arrow" : "plain.parquet"));
    env.add_file("/data/wavs/outside.wav", "RIFF");
    const Corpus corpus = discover_data(env, {.layout = "huggingface"});
    EXPECT_EQ(ids_of(corpus), (Ids{"100", "102", "103", "104"}));
    EXPECT_EQ(clip_of(corpus, "102").source, "wavs/outside.wav");
    EXPECT_EQ(clip_of(corpus, "103").speaker, "1");
    EXPECT_EQ(clip_of(corpus, "103").extra_json,
              R"({"recorded":"2024-05-17","words":[{"start":0.5,"word":"Text"}]})");
    EXPECT_TRUE(says(notes_of(corpus), "columns that are not kept: embedding")) << notes_of(corpus);
  }
}

TEST_F(ColumnFiles, WhatDoesNotTellRowsApartIsNoId) {
  MemoryEnv env;
  env.add_file("/data/train/data-00000-of-00001.arrow", column_file("stream.arrow"));
  env.add_file("/data/test/data-00000-of-00001.arrow", column_file("stream.arrow"));
  const Corpus corpus = discover_data(env);
  EXPECT_TRUE(says(notes_of(corpus), "ids are FILE/ROW")) << notes_of(corpus);
  EXPECT_EQ(clip_of(corpus, "train/data-00000-of-00001/00000003").split, Split::kTrain);
  const Clip test = clip_of(corpus, "test/data-00000-of-00001/00000003");
  EXPECT_EQ(test.split, Split::kTest);
  EXPECT_TRUE(says(test.extra_json, R"("id":103)")) << test.extra_json;
}

TEST_F(ColumnFiles, ARowWithoutANameMakesRowsTheIds) {
  MemoryEnv env;
  env.add_file("/data/a.arrow", column_file("large.arrow"));  // row 1 has no name
  EXPECT_EQ(ids_of(discover_data(env)), (Ids{"a/00000000", "a/00000003", "a/00000004"}));
}

TEST_F(ColumnFiles, WhatIsNotReadIsSaid) {
  for (const auto& [name, reason] :
       {std::pair("packed.arrow", "write it again without compression"),
        std::pair("texts.arrow", "has no column of encoded sound"),
        std::pair("texts.parquet", "has no column of encoded sound")}) {
    MemoryEnv env;
    env.add_file("/data/" + std::string(name), column_file(name));
    EXPECT_TRUE(says(refusal_of(env), reason)) << refusal_of(env);
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

TEST_F(ColumnFiles, NoByteOfThemLeadsOutOfTheFile) {
  for (const std::string name :
       {"stream.arrow", "plain.parquet", "plain_v2.parquet", "snappy_dictionary.parquet"}) {
    const std::string bytes = column_file(name);
    const ColumnFileKind kind = column_file_kind(name).value();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      constexpr std::array<char, 3> kDamage = {'\x00', '\x7F', '\xFF'};
      std::string damaged_bytes = bytes;
      damaged_bytes[i] = kDamage[i % kDamage.size()];
      (void)rows_of(damaged_bytes, kind);
    }
  }
}

}  // namespace
}  // namespace xtts::corpus
