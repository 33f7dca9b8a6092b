#include "pipeline/clip_facts.hpp"
#include "formats/corpus_config.hpp"

#include <gtest/gtest.h>

#include "formats/rules.hpp"
#include "records/clip_rules.hpp"

namespace xtts::pipeline {
namespace {

formats::RecordFacts sound_facts() {
  formats::RecordFacts facts;
  facts.id = "a";
  facts.split = 1;
  facts.speaker = "p225";
  facts.source_path = "a.wav";
  facts.content_digest = Digest{1, 2};
  facts.source_rate_hz = 2000;  // breaks a rule that warns
  facts.source_frame_count = 4000;
  facts.warnings = {{.rule = formats::Rule::kReadingStopped, .detail = "its end is torn"}};
  facts.unknown[40] = "later";
  return facts;
}

formats::RecordFacts text_facts() {
  formats::RecordFacts facts;
  facts.id = "a";
  facts.split = 1;
  facts.speaker = "p225";
  facts.text_raw = "One.";
  facts.text_normalized = "";
  facts.extra_json = "{}";
  facts.character_count = 4;
  return facts;
}

TEST(ClipFacts, AreTakenApartAgainAsTheIndexMergedAndJudgedThem) {
  formats::RecordFacts details = sound_facts();
  const formats::RecordFacts text = text_facts();
  details.split = text.split;
  details.text_raw = text.text_raw;
  details.text_normalized = text.text_normalized;
  details.extra_json = text.extra_json;
  details.character_count = text.character_count;
  records::judge({}, false, "b", details);
  ASSERT_EQ(details.warnings.size(), 3U);
  EXPECT_EQ(facts_of_sound(details), sound_facts());
  EXPECT_EQ(facts_of_text(details), text_facts());
}

TEST(ClipFacts, LoseAllWarningsWhereRulesAloneWarned) {
  formats::RecordFacts facts = sound_facts();
  facts.warnings.clear();
  formats::RecordFacts details = facts;
  records::judge({}, true, "", details);
  ASSERT_FALSE(details.warnings.empty());
  EXPECT_EQ(facts_of_sound(details), facts);
}

}  // namespace
}  // namespace xtts::pipeline
