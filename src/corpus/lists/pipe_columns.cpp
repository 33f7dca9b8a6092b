#include "corpus/lists/pipe_columns.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "corpus/files/names.hpp"
#include "corpus/lists/line_reader.hpp"

namespace xtts::corpus {
namespace {

// Column names in the headers of published corpora, and of lists by users of Coqui TTS, NeMo and
// HiFi-TTS.
constexpr std::array<std::string_view, 17> kIdNames = {
    "id",        "fileid",       "file_id",    "wav_id",   "audio_id",  "clip_id",
    "utt_id",    "utterance_id", "audio_file", "wav_file", "file_name", "filename",
    "file_path", "filepath",     "audio_path", "path",     "audio"};
constexpr std::array<std::string_view, 6> kSpeakerNames = {
    "speaker", "speaker_name", "speaker_id", "speakerid", "spk", "spk_id"};
constexpr std::array<std::string_view, 4> kLanguageNames = {"language", "lang", "language_id",
                                                            "locale"};
constexpr std::array<std::string_view, 8> kTextNames = {
    "text",          "raw_text",          "raw",           "sentence", "transcript",
    "transcription", "raw_transcription", "raw_transcript"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view known) { return equals_ignoring_case(name, known); });
}

}  // namespace

ListedClip listed(const PipeRow& row) {
  ListedClip clip;
  clip.audio = row.id;
  clip.text_raw = row.text_raw;
  clip.text_normalized = row.text_normalized;
  clip.speaker = row.speaker;
  clip.language = row.language;
  return clip;
}

std::optional<PipeColumns> PipeColumns::from_header(std::string_view line) {
  const std::vector<std::string_view> names = fields_of(line, '|');
  if (names.size() < 2 || !is_one_of(names[0], kIdNames)) return std::nullopt;
  PipeColumns columns;
  columns.column_count_ = names.size();
  bool has_other = false;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (is_one_of(names[i], kSpeakerNames)) {
      columns.speaker_ = i;
    } else if (is_one_of(names[i], kLanguageNames)) {
      columns.language_ = i;
    } else if (folded(names[i]).find("norm") != std::string::npos) {
      columns.normalized_ = i;
    } else if (is_one_of(names[i], kTextNames)) {
      // The second of two texts is the normalized one: "text|transcription".
      (columns.raw_ ? columns.normalized_ : columns.raw_) = i;
    } else {
      has_other = true;
    }
  }
  const bool swapped = columns.raw_ && columns.normalized_ && *columns.normalized_ < *columns.raw_;
  columns.by_position_ = columns.speaker_ || columns.language_ || swapped || names.size() > 3 ||
                         (has_other && (columns.raw_ || columns.normalized_));
  return columns;
}

Result<PipeRow> PipeColumns::split(std::string_view line) const {
  if (by_position_) return split_by_position(line);
  const auto first = line.find('|');
  if (first == std::string_view::npos) {
    return Status(StatusCode::kBadInput, "has one field; expected id|text|normalized text");
  }
  const auto last = line.rfind('|');
  PipeRow row;
  row.id = trimmed(line.substr(0, first));
  row.text_normalized = trimmed(line.substr(last + 1));
  row.text_raw =
      first == last ? row.text_normalized : trimmed(line.substr(first + 1, last - first - 1));
  row.field_count = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|')) + 1;
  return row;
}

Result<PipeRow> PipeColumns::split_by_position(std::string_view line) const {
  const std::vector<std::string_view> fields = fields_of(line, '|');
  if (auto fault = fault_of_field_count(fields.size(), column_count_)) {
    return Status(StatusCode::kBadInput, std::move(*fault));
  }
  const auto field = [&](std::optional<std::size_t> column) {
    return column ? fields[*column] : std::string_view();
  };
  PipeRow row;
  row.id = fields[0];
  row.text_raw = field(raw_ ? raw_ : normalized_);
  row.text_normalized = field(normalized_ ? normalized_ : raw_);
  row.speaker = field(speaker_);
  row.language = field(language_);
  row.field_count = fields.size();
  return row;
}

}  // namespace xtts::corpus
