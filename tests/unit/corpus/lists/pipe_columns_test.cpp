#include "corpus/lists/pipe_columns.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

TEST(PipeColumns, TheIdEndsAtTheFirstBarAndTheNormalizedTextStartsAfterTheLast) {
  const auto row = PipeColumns().split("a|Yes|No|2|two");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->id, "a");
  EXPECT_EQ(row->text_raw, "Yes|No|2");
  EXPECT_EQ(row->text_normalized, "two");
  EXPECT_EQ(row->field_count, 5U);
}

TEST(PipeColumns, WithTwoFieldsTheTextIsBoth) {
  const auto row = PipeColumns().split(" a | only text ");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->id, "a");
  EXPECT_EQ(row->text_raw, "only text");
  EXPECT_EQ(row->text_normalized, "only text");
}

TEST(PipeColumns, QuotesAreText) {
  const auto row = PipeColumns().split("a|\"in being|\"\"yes\"\"");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "\"in being");
  EXPECT_EQ(row->text_normalized, "\"\"yes\"\"");
}

TEST(PipeColumns, RefusesOneField) {
  EXPECT_FALSE(PipeColumns().split("LJ001-0001").ok());
}

TEST(PipeColumns, KnowsTheHeadersInUse) {
  for (const auto header :
       {"id|transcription|normalized_transcription", "fileid|text", "wav_id|text|normalized",
        "FILE_ID|Text", "audio_file|text|transcription|speaker_name"}) {
    EXPECT_TRUE(PipeColumns::from_header(header)) << header;
  }
  EXPECT_FALSE(PipeColumns::from_header("LJ001-0001|id|text"));
  EXPECT_FALSE(PipeColumns::from_header("id"));
}

TEST(PipeColumns, AHeaderWithASpeakerGoesByPosition) {
  const auto columns = PipeColumns::from_header("audio_file|text|transcription|speaker_name");
  ASSERT_TRUE(columns);
  const auto row = columns->split("wavs/a.flac|In 1492|In fourteen|anna");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "In 1492");
  EXPECT_EQ(row->text_normalized, "In fourteen");
  EXPECT_EQ(row->speaker, "anna");
  EXPECT_FALSE(columns->split("wavs/a.flac|a|bar|In fourteen|anna").ok());
}

TEST(PipeColumns, AHeaderInAnotherOrderGoesByPosition) {
  const auto columns = PipeColumns::from_header("id|normalized_text|text");
  ASSERT_TRUE(columns);
  const auto row = columns->split("a|two|2");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "2");
  EXPECT_EQ(row->text_normalized, "two");
}

TEST(PipeColumns, AnOrdinaryHeaderKeepsBarsInTheText) {
  const auto columns = PipeColumns::from_header("id|text|normalized_text");
  ASSERT_TRUE(columns);
  const auto row = columns->split("a|1|2|one two");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "1|2");
}

}  // namespace
}  // namespace xtts::corpus
