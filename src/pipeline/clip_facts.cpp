#include "pipeline/clip_facts.hpp"

#include <optional>
#include <string>

#include "formats/feature_config.hpp"
#include "formats/sound_columns.hpp"

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

void add_facts_of_text(const ClipText& text, formats::RecordFacts& facts) {
  facts.text_raw = text.facts.text_raw;
  facts.text_normalized = text.facts.text_normalized;
  facts.character_count = text.facts.character_count;
  facts.unknown_characters_json = text.facts.unknown_characters_json;
  facts.text_was_cut = text.facts.text_was_cut;
}

std::uint32_t frames_of_main_record(const formats::FeatureConfig& features, std::uint32_t length) {
  if (!formats::info_of(features.sound_columns().front()).counts_samples) return length;
  return (length + features.stft.hop_samples - 1) / features.stft.hop_samples;
}

}  // namespace xtts::pipeline
