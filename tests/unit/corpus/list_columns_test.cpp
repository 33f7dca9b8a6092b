#include "corpus/list_columns.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

TEST(ListColumns, TheIdEndsAtTheFirstBarAndTheNormalizedTextStartsAfterTheLast) {
  const auto row = ListColumns().split("a|Yes|No|2|two");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->id, "a");
  EXPECT_EQ(row->text_raw, "Yes|No|2");
  EXPECT_EQ(row->text_normalized, "two");
  EXPECT_EQ(row->field_count, 5U);
}

TEST(ListColumns, WithTwoFieldsTheTextIsBoth) {
  const auto row = ListColumns().split(" a | only text ");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->id, "a");
  EXPECT_EQ(row->text_raw, "only text");
  EXPECT_EQ(row->text_normalized, "only text");
}

TEST(ListColumns, QuotesAreText) {
  const auto row = ListColumns().split("a|\"in being|\"\"yes\"\"");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "\"in being");
  EXPECT_EQ(row->text_normalized, "\"\"yes\"\"");
}

TEST(ListColumns, RefusesOneField) {
  EXPECT_FALSE(ListColumns().split("LJ001-0001").ok());
}

TEST(ListColumns, KnowsTheHeadersInUse) {
  for (const auto header :
       {"id|transcription|normalized_transcription", "fileid|text", "wav_id|text|normalized",
        "FILE_ID|Text", "audio_file|text|transcription|speaker_name"}) {
    EXPECT_TRUE(ListColumns::from_header(header)) << header;
  }
  EXPECT_FALSE(ListColumns::from_header("LJ001-0001|id|text"));
  EXPECT_FALSE(ListColumns::from_header("id"));
}

TEST(ListColumns, AHeaderWithASpeakerGoesByPosition) {
  const auto columns = ListColumns::from_header("audio_file|text|transcription|speaker_name");
  ASSERT_TRUE(columns);
  const auto row = columns->split("wavs/a.flac|In 1492|In fourteen|anna");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "In 1492");
  EXPECT_EQ(row->text_normalized, "In fourteen");
  EXPECT_EQ(row->speaker, "anna");
  EXPECT_FALSE(columns->split("wavs/a.flac|a|bar|In fourteen|anna").ok());
}

TEST(ListColumns, AHeaderInAnotherOrderGoesByPosition) {
  const auto columns = ListColumns::from_header("id|normalized_text|text");
  ASSERT_TRUE(columns);
  const auto row = columns->split("a|two|2");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "2");
  EXPECT_EQ(row->text_normalized, "two");
}

TEST(ListColumns, AnOrdinaryHeaderKeepsBarsInTheText) {
  const auto columns = ListColumns::from_header("id|text|normalized_text");
  ASSERT_TRUE(columns);
  const auto row = columns->split("a|1|2|one two");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->text_raw, "1|2");
}

}  // namespace
}  // namespace xtts::corpus
