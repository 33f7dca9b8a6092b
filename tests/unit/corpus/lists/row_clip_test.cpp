#include "corpus/lists/row_clip.hpp"

#include <gtest/gtest.h>

#include <array>

namespace xtts::corpus {
namespace {

using nlohmann::json;

constexpr std::array<FieldNames, 3> kNames = {{
    {FieldRole::kRaw, {"text", "sentence"}},
    {FieldRole::kSpeaker, {"speaker"}},
    {FieldRole::kStart, {"start"}},
}};

TEST(RowClip, TheFirstKnownNameWithAValueIsTaken) {
  const auto both = read_row(json{{"sentence", "b"}, {"text", "a"}}, kNames);
  EXPECT_EQ(both->text_raw, "a");
  EXPECT_EQ(both->extra_json, R"({"sentence":"b"})") << "what is not taken is kept";
  const auto empty = read_row(json{{"sentence", "b"}, {"text", "  "}}, kNames);
  EXPECT_EQ(empty->text_raw, "b");
  EXPECT_EQ(empty->extra_json, "") << "an empty field of a known name says nothing";
}

TEST(RowClip, LetterCaseDoesNotMatter) {
  EXPECT_EQ(read_row(json{{"TEXT", "a"}}, kNames)->text_raw, "a");
}

TEST(RowClip, NumbersAreNamesAndTextsAreNumbers) {
  const auto row = read_row(json{{"speaker", 12}, {"start", " 1.5 "}}, kNames);
  EXPECT_EQ(row->speaker, "12");
  EXPECT_EQ(row->segment, (Segment{1.5, std::nullopt}));
}

TEST(RowClip, WrongTypesAreFaults) {
  for (const json& value : {json(true), json::array(), json::object()}) {
    EXPECT_EQ(read_row(json{{"text", value}}, kNames).status().code(), StatusCode::kBadInput);
    EXPECT_EQ(read_row(json{{"start", value}}, kNames).status().code(), StatusCode::kBadInput);
  }
  for (const auto text : {"1,5", "1s", "inf", "nan", "0x10", "-", "1 2"}) {
    EXPECT_FALSE(read_row(json{{"start", text}}, kNames).ok()) << text;
  }
}

TEST(RowClip, OtherFieldsAreKeptAsTheyAre) {
  const auto row = read_row(json{{"z", nullptr}, {"a", {1, 2.5}}, {"text", "x"}}, kNames);
  EXPECT_EQ(row->extra_json, R"({"a":[1,2.5],"z":null})");
}

TEST(RowClip, ASegmentEndsAnIdInMilliseconds) {
  EXPECT_EQ(segment_suffix({0.0, 1.5}), "_00000000-00001500");
  EXPECT_EQ(segment_suffix({0.0004, std::nullopt}), "_00000000-end");
  EXPECT_EQ(segment_suffix({1e7, 1e300}), "_10000000000-00000000") << "out of range, but defined";
}

}  // namespace
}  // namespace xtts::corpus
