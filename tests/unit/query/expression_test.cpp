#include "query/expression.hpp"

#include <gtest/gtest.h>

#include "formats/rules.hpp"
#include "formats/sound_columns.hpp"
#include "query/fields.hpp"

namespace xtts::query {
namespace {

// One clip about which nearly everything is known: 2 s of anna, in validation.
class ExpressionTest : public ::testing::Test {
 protected:
  ExpressionTest() {
    tables_.frame_s = 0.01;
    tables_.datasets = datasets_;
    tables_.speakers = speakers_;
    tables_.languages = languages_;
    plan_.mel_len = 200;
    plan_.text_len = 31;
    plan_.speaker = 1;
    plan_.language = -1;
    plan_.split = 1;
    plan_.flags = formats::kPlanAudioCut;
    facts_.id = "LJ001-0007";
    facts_.text_raw = "Dr. \"Who\" said: سلام";
    facts_.text_normalized = "doctor who said: سلام";
    facts_.source_rate_hz = 44100;
    facts_.source_frame_count = 44100 * 3;
    facts_.source_channel_count = 2;
    facts_.codec = "flac";
    facts_.peak = 0.5F;
    facts_.clipped_sample_count = 0;
  }

  [[nodiscard]] bool matches(const std::string& text) const {
    const auto expression = Expression::parse(text);
    EXPECT_TRUE(expression.ok()) << expression.status().message();
    return expression.ok() && expression->matches({tables_, plan_, facts_});
  }

  std::vector<std::string> datasets_{"lj"};
  std::vector<std::string> speakers_{"bob", "anna"};
  std::vector<std::string> languages_{"en"};
  Tables tables_;
  formats::PlanRow plan_;
  formats::RecordFacts facts_;
};

TEST_F(ExpressionTest, ComparesNumbers) {
  EXPECT_TRUE(matches("seconds == 2"));
  EXPECT_TRUE(matches("frames >= 200"));
  EXPECT_FALSE(matches("frames > 200"));
  EXPECT_TRUE(matches("mel_len<201"));
  EXPECT_TRUE(matches("peak <= .5"));
  EXPECT_TRUE(matches("gain != 3 or text_len != 30"));
  EXPECT_TRUE(matches("source_seconds > 2.99 and source_seconds < 3.01e0"));
  EXPECT_TRUE(matches("clipped > -1"));
}

TEST_F(ExpressionTest, FindsAnIdAsLsPrintsIt) {
  facts_.dataset = "lj";
  EXPECT_TRUE(matches("id == 'lj/LJ001-0007'"));
  EXPECT_TRUE(matches("id == 'LJ001-0007'"));
  EXPECT_FALSE(matches("id == 'de/LJ001-0007'"));
  EXPECT_FALSE(matches("id != 'lj/LJ001-0007'"));
  EXPECT_FALSE(matches("id != 'LJ001-0007'"));
  EXPECT_TRUE(matches("id != 'de/LJ001-0007'"));
  EXPECT_TRUE(matches("id ~ '^lj/LJ001' and id ~ '^LJ001'"));
  EXPECT_TRUE(matches("id < 'LJ002' and not id < 'LJ001'"));
  facts_.dataset = "";
  EXPECT_FALSE(matches("id == 'lj/LJ001-0007'"));
}

TEST_F(ExpressionTest, ComparesTextsByBytes) {
  EXPECT_TRUE(matches("speaker == \"anna\""));
  EXPECT_TRUE(matches("speaker == 'anna' and dataset == 'lj'"));
  EXPECT_FALSE(matches("speaker == 'Anna'"));
  EXPECT_TRUE(matches("id < 'LJ002'"));
  EXPECT_TRUE(matches("split == 'validation'"));
  EXPECT_TRUE(matches("text_raw == 'Dr. \"Who\" said: سلام'"));
  EXPECT_TRUE(matches("text_raw == \"Dr. \\\"Who\\\" said: سلام\""));
}

TEST_F(ExpressionTest, FindsRegularExpressions) {
  EXPECT_TRUE(matches("id ~ '^LJ001'"));
  EXPECT_TRUE(matches("id ~ '-\\d{4}$'"));
  EXPECT_FALSE(matches("id ~ '^\\d'"));
  EXPECT_TRUE(matches("text ~ 'sal|سلا.$'"));
}

TEST_F(ExpressionTest, AndBindsMoreThanOrAndNotMoreThanAnd) {
  EXPECT_TRUE(matches("frames == 200 or frames == 1 and frames == 2"));
  EXPECT_FALSE(matches("(frames == 200 or frames == 1) and frames == 2"));
  EXPECT_FALSE(matches("not frames == 200 and frames == 200"));
  EXPECT_TRUE(matches("not (frames == 200 and frames == 1)"));
  EXPECT_TRUE(matches("not not frames == 200"));
}

TEST_F(ExpressionTest, AFieldAloneIsTrueWhenItIsKnownAndNotEmpty) {
  EXPECT_TRUE(matches("speaker and cut and audio_cut"));
  EXPECT_FALSE(matches("text_cut"));
  EXPECT_FALSE(matches("language"));
  EXPECT_FALSE(matches("warning"));
  EXPECT_FALSE(matches("clipped"));
  EXPECT_TRUE(matches("cut == true and text_cut != true"));
}

TEST_F(ExpressionTest, AWarningIsAskedForByItsRule) {
  facts_.warnings = {{.rule = formats::Rule::kClipped, .numbers = {0.5}},
                     {.rule = formats::Rule::kLowRate, .numbers = {8000}}};
  EXPECT_TRUE(matches("warning"));
  EXPECT_TRUE(matches("warning == 'clipped' and warning == 'low_rate'"));
  EXPECT_TRUE(matches("warning != 'silent'"));
  EXPECT_FALSE(matches("warning != 'clipped'"));
  EXPECT_FALSE(matches("warning == 'silent'"));
  EXPECT_TRUE(matches("warning ~ '^low'"));
  EXPECT_FALSE(Expression::parse("warning == 'cliped'").ok());
}

TEST_F(ExpressionTest, ComparisonsWithTheUnknownAreFalse) {
  EXPECT_FALSE(matches("language == 'en'"));
  EXPECT_FALSE(matches("language != 'en'"));
  EXPECT_TRUE(matches("not language == 'en'"));
  EXPECT_FALSE(matches("rms < 1"));
  EXPECT_FALSE(matches("container ~ '.'"));
  plan_.speaker = 17;  // a number that no table has
  EXPECT_FALSE(matches("speaker"));
}

TEST_F(ExpressionTest, SaysWhetherFactsAreNeeded) {
  EXPECT_FALSE(Expression::parse("seconds > 1 and not (speaker == 'a' or cut)")->needs_facts());
  EXPECT_TRUE(Expression::parse("seconds > 1 and (cut or codec == 'mp3')")->needs_facts());
}

TEST_F(ExpressionTest, EveryFieldParsesAndEvaluates) {
  for (const Field& field : fields()) {
    const std::string name(field.name);
    const auto alone = Expression::parse(name);
    ASSERT_TRUE(alone.ok()) << name;
    EXPECT_EQ(alone->needs_facts(), field.source == FieldSource::kFacts) << name;
    (void)alone->matches({tables_, plan_, facts_});
    const FieldValue value = field.get({tables_, plan_, facts_});
    const bool fits =
        std::holds_alternative<std::monostate>(value) || std::holds_alternative<RuleNames>(value) ||
        (field.type == FieldType::kNumber && std::holds_alternative<double>(value)) ||
        (field.type == FieldType::kText && std::holds_alternative<std::string_view>(value)) ||
        (field.type == FieldType::kFlag && std::holds_alternative<bool>(value));
    EXPECT_TRUE(fits) << name;
  }
}

std::string error_of(std::string_view text) {
  const auto expression = Expression::parse(text);
  EXPECT_FALSE(expression.ok()) << text;
  EXPECT_EQ(expression.status().code(), StatusCode::kInvalidArgument);
  return expression.status().message();
}

TEST(ExpressionErrors, PointAtThePlace) {
  EXPECT_EQ(error_of("seconds > 2 and speker == 'anna'"),
            "column 17: there is no field 'speker', did you mean 'speaker'?\n"
            "  seconds > 2 and speker == 'anna'\n"
            "                  ^");
  EXPECT_EQ(error_of("text == 'سلام' ) "),
            "column 16: this parenthesis was never opened\n"
            "  text == 'سلام' ) \n"
            "                 ^");
}

TEST(ExpressionErrors, SayWhatToWriteInstead) {
  const auto begins = [](std::string_view text, std::string_view message) {
    EXPECT_EQ(error_of(text).substr(0, message.size()), message) << error_of(text);
  };
  begins("", "column 1: the expression is empty");
  begins("  ", "column 3: the expression is empty");
  begins("seconds = 2", "column 9: '=' is written '=='");
  begins("cut && cut", "column 5: '&&' is written 'and'");
  begins("cut || cut", "column 5: '||' is written 'or'");
  begins("!cut", "column 1: '!' is written 'not'");
  begins("seconds > 'a'", "column 11: seconds is compared with a number");
  begins("speaker == anna", "column 12: speaker is compared with a text in quotes: \"anna\"");
  begins("split == 'val'", "column 10: split is one of: train validation test");
  begins("cut == 1", "column 8: cut is compared with true or false");
  begins("cut < true", "column 5: cut is compared with true or false by == or !=");
  begins("seconds ~ '2'", "column 9: seconds is a number: '~' is for texts");
  begins("id ~ '('", "column 6: the regular expression: ");
  begins("id ~ 'a\\1'", "column 6: back references are not supported");
  begins("seconds > 2s", "column 12: a number ends here");
  begins("seconds > ", "column 11: seconds is compared with a number");
  begins("cut cut", "column 5: expected 'and', 'or' or the end");
  begins("(cut", "column 1: this parenthesis is not closed");
  begins("id == 'a", "column 7: this quote is not closed");
  begins("xyzzy", "column 1: there is no field 'xyzzy'; xtts-precompute ls --help lists them");
  begins("seconds > 1e999", "column 11: this is not a number");
  begins(std::string(5000, ' '), "the expression is longer than 4,096 bytes");
  EXPECT_NE(error_of(std::string(200, '(') + "cut").find("nested too deeply"), std::string::npos);
}

TEST(Fields, NoneIsCalledAsAColumn) {
  for (const formats::SoundColumnInfo& column : formats::all_sound_columns())
    EXPECT_EQ(find_field(column.name), nullptr) << column.name;
}

}  // namespace
}  // namespace xtts::query
