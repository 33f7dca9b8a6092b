#include "pipeline/shard_facts.hpp"

#include <gtest/gtest.h>

#include "pipeline/clip_rules.hpp"

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
  facts.warnings = "its end is torn";
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

TEST(ShardFacts, AreTakenApartAgainAsTheIndexMergedAndJudgedThem) {
  formats::RecordFacts details = formats::merge_facts(sound_facts(), text_facts());
  judge({}, false, "b", details);
  ASSERT_EQ(details.rule_warning_count, 2U);
  EXPECT_EQ(facts_of_sound(details), sound_facts());
  EXPECT_EQ(facts_of_text(details), text_facts());
}

TEST(ShardFacts, LoseAllWarningsWhereRulesAloneWarned) {
  formats::RecordFacts facts = sound_facts();
  facts.warnings.reset();
  formats::RecordFacts details = facts;
  judge({}, true, "", details);
  ASSERT_TRUE(details.warnings);
  EXPECT_EQ(facts_of_sound(details), facts);
}

}  // namespace
}  // namespace xtts::pipeline
