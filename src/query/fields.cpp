#include "query/fields.hpp"

#include <algorithm>
#include <array>

#include "formats/rules.hpp"
#include "formats/split.hpp"

namespace xtts::query {
namespace {

using formats::RecordFacts;

template <typename T>
FieldValue number_of(const std::optional<T>& value) {
  if (!value) return {};
  return static_cast<double>(*value);
}

FieldValue text_of(const std::optional<std::string>& value) {
  if (!value) return {};
  return std::string_view(*value);
}

template <typename Number>
FieldValue name_of(std::span<const std::string> names, Number number) {
  if (number < Number{0} || static_cast<std::size_t>(number) >= names.size()) return {};
  return std::string_view(names[static_cast<std::size_t>(number)]);
}

// A member of the facts, as a field.
template <auto Member>
FieldValue fact(const Clip& clip) {
  const auto& value = clip.facts.*Member;
  if constexpr (std::is_same_v<decltype(value), const std::optional<std::string>&>) {
    return text_of(value);
  } else {
    return number_of(value);
  }
}

FieldValue flag(const Clip& clip, std::uint8_t bits) {
  return (clip.plan.flags & bits) != 0;
}

FieldValue seconds(const Clip& clip) {
  if (clip.tables.frame_s <= 0.0) return {};
  return clip.plan.mel_len * clip.tables.frame_s;
}

FieldValue source_seconds(const Clip& clip) {
  const RecordFacts& facts = clip.facts;
  if (!facts.source_frame_count || facts.source_rate_hz.value_or(0) == 0) return {};
  return static_cast<double>(*facts.source_frame_count) / *facts.source_rate_hz;
}

FieldValue spoken_text(const Clip& clip) {
  return text_of(clip.facts.text_normalized ? clip.facts.text_normalized : clip.facts.text_raw);
}

FieldValue warning_rules(const Clip& clip) {
  return RuleNames(clip.facts.warnings);
}

constexpr auto kNumber = FieldType::kNumber;
constexpr auto kText = FieldType::kText;
constexpr auto kFlag = FieldType::kFlag;
constexpr auto kPlan = FieldSource::kPlan;
constexpr auto kFacts = FieldSource::kFacts;

// "clipped low_rate ..."
std::string_view warning_choices() {
  static const std::string names = [] {
    std::string joined;
    for (const formats::RuleInfo& info : formats::all_rules()) {
      if (info.effect == formats::Effect::kRejected) continue;
      joined += joined.empty() ? "" : " ";
      joined += info.name;
    }
    return joined;
  }();
  return names;
}

}  // namespace

std::span<const Field> fields() {
  // clang-format off
  static const std::array kFields{
    Field{"id", kText, kFacts, "the clip's id, with its data set in front or without", fact<&RecordFacts::id>, {}, true},
    Field{"dataset", kText, kPlan, "data set", [](const Clip& c) { return name_of(c.tables.datasets, c.plan.dataset); }},
    Field{"split", kText, kPlan, "train, validation or test", [](const Clip& c) { return FieldValue(formats::split_name(c.plan.split)); }, "train validation test"},
    Field{"speaker", kText, kPlan, "speaker", [](const Clip& c) { return name_of(c.tables.speakers, c.plan.speaker); }},
    Field{"language", kText, kPlan, "language", [](const Clip& c) { return name_of(c.tables.languages, c.plan.language); }},
    Field{"seconds", kNumber, kPlan, "length of the sound in the record, s", seconds},
    Field{"frames", kNumber, kPlan, "mel frames", [](const Clip& c) { return FieldValue(static_cast<double>(c.plan.mel_len)); }},
    Field{"mel_len", kNumber, kPlan, "the same as frames", [](const Clip& c) { return FieldValue(static_cast<double>(c.plan.mel_len)); }},
    Field{"text_len", kNumber, kPlan, "tokens", [](const Clip& c) { return FieldValue(static_cast<double>(c.plan.text_len)); }},
    Field{"characters", kNumber, kFacts, "characters of the text", fact<&RecordFacts::character_count>},
    Field{"text", kText, kFacts, "the text, normalized where it is", spoken_text},
    Field{"text_raw", kText, kFacts, "the text as the corpus has it", fact<&RecordFacts::text_raw>},
    Field{"path", kText, kFacts, "source file, relative to DATA", fact<&RecordFacts::source_path>},
    Field{"source_seconds", kNumber, kFacts, "length of the source, or of its part, s", source_seconds},
    Field{"segment_start", kNumber, kFacts, "where a part of a source begins, s", fact<&RecordFacts::segment_start_s>},
    Field{"segment_end", kNumber, kFacts, "where it ends, s", fact<&RecordFacts::segment_end_s>},
    Field{"source_rate", kNumber, kFacts, "sample rate of the source, Hz", fact<&RecordFacts::source_rate_hz>},
    Field{"channels", kNumber, kFacts, "channels of the source", fact<&RecordFacts::source_channel_count>},
    Field{"codec", kText, kFacts, "codec of the source", fact<&RecordFacts::codec>},
    Field{"container", kText, kFacts, "container of the source", fact<&RecordFacts::container>},
    Field{"gain", kNumber, kFacts, "factor that loudness applied", fact<&RecordFacts::gain>},
    Field{"peak", kNumber, kFacts, "peak before the gain, full scale 1", fact<&RecordFacts::peak>},
    Field{"rms", kNumber, kFacts, "RMS before the gain, full scale 1", fact<&RecordFacts::rms>},
    Field{"clipped", kNumber, kFacts, "clipped samples", fact<&RecordFacts::clipped_sample_count>},
    Field{"nonfinite", kNumber, kFacts, "NaN and Inf samples, replaced by 0", fact<&RecordFacts::nonfinite_sample_count>},
    Field{"silence", kNumber, kFacts, "share of silence, 0 to 1", fact<&RecordFacts::silence_share>},
    Field{"bandwidth", kNumber, kFacts, "highest frequency with sound (-80 dB), up to half the recipe's rate, Hz", fact<&RecordFacts::bandwidth_hz>},
    Field{"trim_start", kNumber, kFacts, "first sample kept, at the recipe's rate", fact<&RecordFacts::trim_start_samples>},
    Field{"trim_end", kNumber, kFacts, "sample behind the last one kept", fact<&RecordFacts::trim_end_samples>},
    Field{"cut", kFlag, kPlan, "sound or text was cut to the recipe's maximum", [](const Clip& c) { return flag(c, formats::kPlanAudioCut | formats::kPlanTextCut); }},
    Field{"audio_cut", kFlag, kPlan, "sound was cut to max_frames", [](const Clip& c) { return flag(c, formats::kPlanAudioCut); }},
    Field{"text_cut", kFlag, kPlan, "text was cut to max_tokens", [](const Clip& c) { return flag(c, formats::kPlanTextCut); }},
    Field{"warning", kText, kFacts, "rules that the clip breaks (clipped, too_short, ...): == asks for any of them", warning_rules, warning_choices()},
  };
  // clang-format on
  return kFields;
}

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(fields(), name, &Field::name);
  return found == fields().end() ? nullptr : &*found;
}

bool is_of_lists(const Field& field) noexcept {
  constexpr std::array<std::string_view, 8> kNames{"id",       "dataset", "split",    "speaker",
                                                   "language", "text",    "text_raw", "path"};
  return std::ranges::find(kNames, field.name) != kNames.end();
}

}  // namespace xtts::query
