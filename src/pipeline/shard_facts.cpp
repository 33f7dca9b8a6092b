#include "pipeline/shard_facts.hpp"

#include "records/clip_rules.hpp"

namespace xtts::pipeline {

formats::RecordFacts facts_of_sound(formats::RecordFacts details) {
  records::forget_judgement(details);
  details.text_raw.reset();
  details.text_normalized.reset();
  details.extra_json.reset();
  details.character_count.reset();
  details.unknown_characters_json.reset();
  details.text_was_cut.reset();
  return details;
}

formats::RecordFacts facts_beside(const formats::RecordFacts& details) {
  formats::RecordFacts facts;
  facts.id = details.id;
  facts.dataset = details.dataset;
  facts.split = details.split;
  return facts;
}

formats::RecordFacts facts_of_text(const formats::RecordFacts& details) {
  formats::RecordFacts facts;
  facts.id = details.id;
  facts.dataset = details.dataset;
  facts.split = details.split;
  facts.speaker = details.speaker;
  facts.language = details.language;
  facts.text_raw = details.text_raw;
  facts.text_normalized = details.text_normalized;
  facts.extra_json = details.extra_json;
  facts.character_count = details.character_count;
  facts.unknown_characters_json = details.unknown_characters_json;
  facts.text_was_cut = details.text_was_cut;
  return facts;
}

}  // namespace xtts::pipeline
