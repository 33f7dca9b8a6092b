#include "cli/clip_description.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/split.hpp"
#include "query/fields.hpp"
#include "report/reasons.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;

template <typename Number>
std::string name_at(std::span<const std::string> names, Number number) {
  if (number < Number{0} || static_cast<std::size_t>(number) >= names.size()) return {};
  return names[static_cast<std::size_t>(number)];
}

template <typename T>
void put(json& out, const char* key, const std::optional<T>& value) {
  if (value) out[key] = *value;
}

// Writes the shortest decimal number that gives this float again: 0.1, not 0.10000000149011612.
void put_float(json& out, const char* key, const std::optional<float>& value) {
  if (!value || !std::isfinite(*value)) return;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *value);
  double shortest = 0.0;
  std::from_chars(digits.data(), end.ptr, shortest);
  out[key] = shortest;
}

void put_text(json& out, const char* key, const std::string& value) {
  if (!value.empty()) out[key] = value;
}

// Writes a fact that is JSON itself. Text that does not parse is shown as text.
void put_document(json& out, const char* key, const std::optional<std::string>& text) {
  if (!text) return;
  auto document = formats::parse_json(*text);
  out[key] = document.ok() ? std::move(*document) : json(*text);
}

}  // namespace

std::string ClipFacts::full_id() const {
  return formats::full_id(dataset, facts.id.value_or(""));
}

std::string ClipFacts::split() const {
  return std::string(formats::split_name(plan.split));
}

std::string ClipFacts::text() const {
  return facts.text_normalized ? *facts.text_normalized : facts.text_raw.value_or("");
}

ClipFacts describe_clip(const query::Tables& tables, const formats::PlanRow& plan,
                        formats::RecordFacts facts) {
  ClipFacts clip;
  clip.plan = plan;
  clip.dataset = name_at(tables.datasets, plan.dataset);
  clip.speaker = name_at(tables.speakers, plan.speaker);
  clip.language = name_at(tables.languages, plan.language);
  clip.seconds = plan.mel_len * tables.frame_s;
  clip.facts = std::move(facts);
  return clip;
}

json clip_to_json(const ClipFacts& clip) {
  const formats::RecordFacts& facts = clip.facts;
  json out = {{"id", clip.full_id()},
              {"mel_len", clip.plan.mel_len},
              {"text_len", clip.plan.text_len},
              {"seconds", clip.seconds},
              {"split", clip.split()},
              {"audio_cut", (clip.plan.flags & formats::kPlanAudioCut) != 0},
              {"text_cut", (clip.plan.flags & formats::kPlanTextCut) != 0}};
  put_text(out, "dataset", clip.dataset);
  put_text(out, "speaker", clip.speaker);
  put_text(out, "language", clip.language);
  put(out, "path", facts.source_path);
  put(out, "text", facts.text_normalized ? facts.text_normalized : facts.text_raw);
  put(out, "text_raw", facts.text_raw);
  put(out, "container", facts.container);
  put(out, "codec", facts.codec);
  put(out, "source_rate", facts.source_rate_hz);
  put(out, "channels", facts.source_channel_count);
  put(out, "source_frames", facts.source_frame_count);
  put(out, "segment_start", facts.segment_start_s);
  put(out, "segment_end", facts.segment_end_s);
  put(out, "trim_start", facts.trim_start_samples);
  put(out, "trim_end", facts.trim_end_samples);
  put_float(out, "gain", facts.gain);
  put_float(out, "peak", facts.peak);
  put_float(out, "rms", facts.rms);
  put(out, "clipped", facts.clipped_sample_count);
  put_float(out, "silence", facts.silence_share);
  put_float(out, "bandwidth", facts.bandwidth_hz);
  put(out, "nonfinite", facts.nonfinite_sample_count);
  for (const formats::Reason& warning : facts.warnings) {
    json& told = out["warnings"].emplace_back(json{{"warning", report::words_of(warning)}});
    formats::put_reason(warning, told);
  }
  put(out, "frames_before_cut", facts.frame_count_before_cut);
  put(out, "characters", facts.character_count);
  put_document(out, "unknown_characters", facts.unknown_characters_json);
  put_document(out, "extra", facts.extra_json);
  if (facts.content_digest) out["content_digest"] = facts.content_digest->to_hex();
  if (facts.pcm_digest) out["pcm_digest"] = facts.pcm_digest->to_hex();
  return out;
}

}  // namespace xtts::cli
