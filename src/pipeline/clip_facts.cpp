#include "pipeline/clip_facts.hpp"

#include <optional>
#include <string>

#include "formats/feature_config.hpp"
#include "formats/sound_columns.hpp"
#include "records/clip_rules.hpp"

namespace xtts::pipeline {
namespace {

void set_name(std::optional<std::string>& field, const std::string& name) {
  field = name.empty() ? std::nullopt : std::optional(name);
}

}  // namespace

void add_facts_of_lists(const corpus::Clip& clip, formats::RecordFacts& facts) {
  facts.id = clip.id;
  facts.split = static_cast<std::uint8_t>(clip.split);
  facts.source_path = clip.source;
  set_name(facts.dataset, clip.dataset);
  set_name(facts.speaker, clip.speaker);
  set_name(facts.language, clip.language);
  set_name(facts.extra_json, clip.extra_json);
}

void take_text(const formats::RecordFacts& from, formats::RecordFacts& to) {
  to.text_raw = from.text_raw;
  to.text_normalized = from.text_normalized;
  to.character_count = from.character_count;
  to.unknown_characters_json = from.unknown_characters_json;
  to.text_was_cut = from.text_was_cut;
}

bool differs_except_sound(const corpus::Clip& clip, const formats::RecordFacts& published) {
  return published.text_raw.value_or("") != clip.text_raw ||
         published.text_normalized.value_or("") != clip.text_normalized ||
         published.speaker.value_or("") != clip.speaker ||
         published.language.value_or("") != clip.language;
}

formats::RecordFacts facts_of_sound(formats::RecordFacts details) {
  records::forget_judgement(details);
  take_text({}, details);
  details.extra_json.reset();
  return details;
}

formats::RecordFacts facts_of_further_column(const formats::RecordFacts& details) {
  formats::RecordFacts facts;
  facts.id = details.id;
  facts.dataset = details.dataset;
  facts.split = details.split;
  return facts;
}

formats::RecordFacts facts_of_text(const formats::RecordFacts& details) {
  formats::RecordFacts facts = facts_of_further_column(details);
  take_text(details, facts);
  facts.speaker = details.speaker;
  facts.language = details.language;
  facts.extra_json = details.extra_json;
  return facts;
}

std::uint32_t frames_of_main_record(const formats::FeatureConfig& features, std::uint32_t length) {
  if (!formats::info_of(formats::sound_columns_of(features).front()).counts_samples) return length;
  return (length + features.stft.hop_samples - 1) / features.stft.hop_samples;
}

}  // namespace xtts::pipeline
