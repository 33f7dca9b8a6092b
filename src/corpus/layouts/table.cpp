// table: a list of any origin in DATA with a header line (CSV, TSV, ';') or as JSON lines, by the
// names of its fields: audio, text, start, end, speaker, language, split and their usual synonyms.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/ljspeech_lists.hpp"
#include "corpus/layouts/table.hpp"
#include "corpus/list_files.hpp"
#include "corpus/row_lists.hpp"

namespace xtts::corpus {
namespace {

constexpr std::array<std::string_view, 4> kEndings = {"csv", "tsv", "jsonl", "json"};

constexpr std::array<FieldName, 35> kNames = {{
    {"audio", FieldRole::kAudio},
    {"audio_path", FieldRole::kAudio},
    {"audio_file", FieldRole::kAudio},
    {"path", FieldRole::kAudio},
    {"file", FieldRole::kAudio},
    {"filename", FieldRole::kAudio},
    {"wav", FieldRole::kAudio},
    {"wav_path", FieldRole::kAudio},
    {"text", FieldRole::kRaw},
    {"transcript", FieldRole::kRaw},
    {"transcription", FieldRole::kRaw},
    {"sentence", FieldRole::kRaw},
    {"normalized_text", FieldRole::kNormalized},
    {"text_normalized", FieldRole::kNormalized},
    {"id", FieldRole::kId},
    {"utt_id", FieldRole::kId},
    {"utterance_id", FieldRole::kId},
    {"start", FieldRole::kStart},
    {"start_s", FieldRole::kStart},
    {"begin", FieldRole::kStart},
    {"offset", FieldRole::kStart},
    {"end", FieldRole::kEnd},
    {"end_s", FieldRole::kEnd},
    {"duration", FieldRole::kDuration},
    {"duration_s", FieldRole::kDuration},
    {"speaker", FieldRole::kSpeaker},
    {"speaker_id", FieldRole::kSpeaker},
    {"speaker_name", FieldRole::kSpeaker},
    {"client_id", FieldRole::kSpeaker},
    {"language", FieldRole::kLanguage},
    {"lang", FieldRole::kLanguage},
    {"locale", FieldRole::kLanguage},
    {"split", FieldRole::kSplit},
    {"subset", FieldRole::kSplit},
    {"set", FieldRole::kSplit},
}};

Result<std::vector<std::string>> tables(const LayoutInput& input) {
  return lists_with_rows(input, "", kEndings, kNames, FieldRole::kAudio);
}

Result<std::vector<ListSource>> choose_tables(const LayoutInput& input) {
  const formats::CorpusConfig& config = input.config;
  if (!config.metadata_train_file.empty() || !config.metadata_eval_file.empty()) {
    return choose_lists(input);
  }
  XTTS_TRY(refuse_list_keys(input.config, "table"));
  XTTS_ASSIGN(const std::vector<std::string> lists, tables(input));
  if (lists.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "no table in " + input.tree.root +
                      ": looked for *.csv, *.tsv, *.jsonl and *.json with a field audio (or "
                      "audio_path, audio_file, path, file, filename, wav, wav_path)");
  }
  return lists_by_split(input, lists, "table");
}

Detected detect(const LayoutInput& input) {
  if (!input.config.metadata_train_file.empty()) return Detected(std::nullopt);
  XTTS_ASSIGN(const std::vector<std::string> lists, tables(input));
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(names_of(lists) + (lists.size() == 1 ? " has" : " have") +
                  " a field that names audio (layout table)");
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<ListSource> sources, choose_tables(input));
  return read_row_lists(input, sources, kNames, RowIds::kOfAudio,
                        "rows with audio and text, and a header line that names them");
}

}  // namespace

Result<bool> is_table(const LayoutInput& input, std::string_view list) {
  return begins_with_rows(input, list, kNames, FieldRole::kAudio);
}

const Layout kTableLayout = {
    "table", "a CSV, TSV or JSONL list with fields audio, text, speaker, ...", detect, read};

}  // namespace xtts::corpus
