#include "doctor/yaml_edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using testing::HasSubstr;

std::string set(const std::string& text, const std::string& key, const std::string& value,
                ValueStyle style = ValueStyle::kPlain) {
  const auto made = set_yaml_value(text, "f.yaml", key, value, style);
  return made.ok() ? *made : "refused: " + made.status().message();
}

std::string remove(const std::string& text, const std::string& key) {
  const auto made = remove_yaml_key(text, "f.yaml", key);
  return made.ok() ? *made : "refused: " + made.status().message();
}

TEST(YamlEdit, ChangesOneValueAndKeepsAllElse) {
  EXPECT_EQ(
      set("# top\ndata:\n    a: 1   # one\n\n    b: [x, y]\nmodel:\n  a: 1\n", "data.a", "20"),
      "# top\ndata:\n    a: 20  # one\n\n    b: [x, y]\nmodel:\n  a: 1\n");
  EXPECT_EQ(set("data:\n  a: 100 # x\n", "data.a", "2"), "data:\n  a: 2   # x\n");
  EXPECT_EQ(set("data:\n  a: 1 # x\n", "data.a", "200"), "data:\n  a: 200 # x\n");
  EXPECT_EQ(set("data:\n  a : 1\n", "data.a", "2"), "data:\n  a : 2\n");
  EXPECT_EQ(set("data:\n  \"a\": 1\n", "data.a", "2"), "data:\n  \"a\": 2\n");
  EXPECT_EQ(set("data:\n  a:\t1\t# x\n", "data.a", "2"), "data:\n  a:\t2\t# x\n");
  EXPECT_EQ(set("---\ndata:\n  a: 1\n...\n", "data.a", "2"), "---\ndata:\n  a: 2\n...\n");
}

TEST(YamlEdit, KeepsLineEndsAndTheByteOrderMark) {
  EXPECT_EQ(set("\xEF\xBB\xBF"
                "data:\r\n  a: 1\r\n",
                "data.a", "2"),
            "\xEF\xBB\xBF"
            "data:\r\n  a: 2\r\n");
  EXPECT_EQ(set("data:\r\n  a: 1\r\n", "data.b", "2"), "data:\r\n  a: 1\r\n  b: 2\r\n");
  EXPECT_EQ(set("data:\r\n  a: 1", "data.b", "2"), "data:\r\n  a: 1\r\n  b: 2");
  EXPECT_EQ(set("data:\n  a: 1", "data.b", "2"), "data:\n  a: 1\n  b: 2");
}

TEST(YamlEdit, KeepsQuotesOfTextsAlone) {
  EXPECT_EQ(set("data:\n  m: 'x' # y\n", "data.m", "z", ValueStyle::kText),
            "data:\n  m: 'z' # y\n");
  EXPECT_EQ(set("data:\n  m: \"a # \\\" b\" # y\n", "data.m", "z", ValueStyle::kText),
            "data:\n  m: \"z\"        # y\n");
  EXPECT_EQ(set("data:\n  m: 'it''s'\n", "data.m", "that's", ValueStyle::kText),
            "data:\n  m: 'that''s'\n");
  EXPECT_EQ(set("data:\n  b: \"true\"\n", "data.b", "true"), "data:\n  b: true\n");
  EXPECT_EQ(set("data:\n  m: no\n", "data.m", "no", ValueStyle::kText), "data:\n  m: \"no\"\n");
  EXPECT_EQ(set("data:\n  m: x\n", "data.m", "a: b", ValueStyle::kText), "data:\n  m: \"a: b\"\n");
}

TEST(YamlEdit, GivesAValueToAKeyWithoutOne) {
  EXPECT_EQ(set("data:\n  a:\n  b: 1\n", "data.a", "2"), "data:\n  a: 2\n  b: 1\n");
  EXPECT_EQ(set("data:\n  a: # none\n", "data.a", "2"), "data:\n  a: 2 # none\n");
  EXPECT_EQ(set("data:\n  a: ~\n", "data.a", "2"), "data:\n  a: 2\n");
}

TEST(YamlEdit, AddsAKeyAtTheEndOfItsSection) {
  EXPECT_EQ(set("data:\n   a: 1\n   # about nothing\n\n# next\nmodel:\n   a: 1\n", "data.b", "2"),
            "data:\n   a: 1\n   # about nothing\n   b: 2\n\n# next\nmodel:\n   a: 1\n");
  EXPECT_EQ(set("data:\n  a:\n  - x\n  - y\n", "data.b", "2"),
            "data:\n  a:\n  - x\n  - y\n  b: 2\n");
  EXPECT_EQ(set("model:\n    a: 1\ndata:\n", "data.b", "2"), "model:\n    a: 1\ndata:\n    b: 2\n");
  EXPECT_EQ(set("data:\n  a: |\n    text\n    # no comment\n", "data.b", "2"),
            "data:\n  a: |\n    text\n    # no comment\n  b: 2\n");
}

TEST(YamlEdit, AddsASectionAtTheEnd) {
  EXPECT_EQ(set("model:\n    a: 1\n", "data.b", "2"), "model:\n    a: 1\ndata:\n    b: 2\n");
  EXPECT_EQ(set("model:\n  a: 1\n...\n", "data.b", "2"), "model:\n  a: 1\ndata:\n  b: 2\n...\n");
}

TEST(YamlEdit, MakesCommentsOfAKeysLines) {
  EXPECT_EQ(remove("data:\n  a: 1 # one\n  b: 2\n", "data.a"), "data:\n  # a: 1 # one\n  b: 2\n");
  EXPECT_EQ(remove("data:\n  b: 2\n  a:\n  - x\n\n  - y\n# end\n", "data.a"),
            "data:\n  b: 2\n  # a:\n  # - x\n\n  # - y\n# end\n");
  EXPECT_EQ(remove("data:\n  a: |\n    x\n    y\n  b: 2\n", "data.a"),
            "data:\n  # a: |\n  #   x\n  #   y\n  b: 2\n");
  EXPECT_EQ(remove("data:\n  b: 2\nmodel:\n", "model"), "data:\n  b: 2\n# model:\n");
  EXPECT_THAT(remove("data:\n  a: 1\n", "data.b"), HasSubstr("there is no data.b"));
}

TEST(YamlEdit, ReplacesAnAliasButNoAnchor) {
  const std::string text = "data:\n  a: &x 1\n  b: *x\n  c: 2\n";
  EXPECT_EQ(set(text, "data.b", "3"), "data:\n  a: &x 1\n  b: 3\n  c: 2\n");
  EXPECT_THAT(set(text, "data.a", "3"), HasSubstr("f.yaml:2: the value has an anchor"));
  EXPECT_THAT(remove(text, "data.a"), HasSubstr("refused"));
}

// Each of these would be easy to damage.
TEST(YamlEdit, RefusesWhatItCannotEditWell) {
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"data: {a: 1, b: 2}\n", "braces"},
           {"data: {\n  a: 1,\n  b: 2}\n", "braces"},
           {"{data: {a: 1}}\n", "does not begin its line"},
           {"data: &d\n  a: 1\nother: *d\n", "anchor"},
           {"data: !!map\n  a: 1\n", "tag"},
           {"data: !mine\n  a: 1\n", "tag"},
           {"data:\n  a: !!int \"1\"\n", "tag"},
           {"data:\n  a: |\n    1\n", "block of text"},
           {"data:\n  a: >-\n    1\n", "block of text"},
           {"data:\n  a: \"1\n    2\"\n", "several lines"},
           {"data:\n  a: 1\n    2\n", "more than this value"},
           {"data:\n  a:\n    1\n", "more than this value"},
           {"data:\n  a: 1\n  a: 2\n", "twice"},
           {"data:\n  a: 1\ndata:\n  a: 2\n", "twice"},
           {"data:\n  a:\n    b: 1\n", "several parts"},
           {"data:\n  a: [1]\n", "several parts"},
           {"data: 5\n", "single value"},
           {"data:\n  ? a\n  : 1\n", "does not stand alone"},
           {"? data\n: a: 1\n", "does not begin its line"},
       }) {
    const auto made = set_yaml_value(text, "f.yaml", "data.a", "3", ValueStyle::kPlain);
    ASSERT_FALSE(made.ok()) << text << *made;
    EXPECT_EQ(made.status().code(), StatusCode::kUnsupported) << made.status().message();
    EXPECT_THAT(made.status().message(), HasSubstr(reason)) << text;
  }
}

TEST(YamlEdit, ReadsNoBrokenText) {
  for (const char* const text : {"", "data:\n\ta: 1\n", "a: 1\n---\nb: 2\n", "- x\n", "\xFF: 1\n"})
    EXPECT_EQ(set_yaml_value(text, "f", "data.a", "1", ValueStyle::kPlain).status().code(),
              StatusCode::kInvalidArgument)
        << text;
  EXPECT_EQ(set_yaml_value("a: 1\n", "f", "a", "1", ValueStyle::kPlain).status().code(),
            StatusCode::kInvalidArgument);
}

// A line of a text in quotes may look like a key.
TEST(YamlEdit, IsNotMisledByTextsThatLookLikeKeys) {
  const std::string text =
      "data:\n  note: \"first\n  a: 7\n  last\"\n  a: 1\n  # a: 9\nother: |\n  a: 8\n";
  EXPECT_EQ(set(text, "data.a", "2"),
            "data:\n  note: \"first\n  a: 7\n  last\"\n  a: 2\n  # a: 9\nother: |\n  a: 8\n");
}

}  // namespace
}  // namespace xtts::doctor
