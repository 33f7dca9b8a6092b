// table: a list from any source in DATA, with a header line (CSV, TSV, ';') or as JSON lines.
// Field names give the meaning: audio, text, start, end, speaker, language, split and their usual
// synonyms. A name from the recipe (audio_column and the like) replaces all names for its meaning.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/table.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/list_choice.hpp"
#include "corpus/names.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace table_layout {
namespace {

constexpr std::array<std::string_view, 4> kEndings = {"csv", "tsv", "jsonl", "json"};

constexpr std::array<FieldNames, 10> kNames = {{
    {FieldRole::kAudio,
     {"audio", "audio_path", "audio_file", "path", "file", "filename", "wav", "wav_path"}},
    {FieldRole::kRaw, {"text", "transcript", "transcription", "sentence"}},
    {FieldRole::kNormalized, {"normalized_text", "text_normalized"}},
    {FieldRole::kId, {"id", "utt_id", "utterance_id"}},
    {FieldRole::kStart, {"start", "start_s", "begin", "offset"}},
    {FieldRole::kEnd, {"end", "end_s"}},
    {FieldRole::kDuration, {"duration", "duration_s"}},
    {FieldRole::kSpeaker, {"speaker", "speaker_id", "speaker_name", "client_id"}},
    {FieldRole::kLanguage, {"language", "lang", "locale"}},
    {FieldRole::kSplit, {"split", "subset", "set"}},
}};

struct NamedColumn {
  FieldRole role;
  const std::string& name;  // empty: not configured
  const char* key;
};
std::array<NamedColumn, 9> named_columns(const formats::CorpusColumns& columns) {
  return {{{FieldRole::kAudio, columns.audio, "audio_column"},
           {FieldRole::kId, columns.id, "id_column"},
           {FieldRole::kRaw, columns.text, "text_column"},
           {FieldRole::kNormalized, columns.normalized, "normalized_column"},
           {FieldRole::kSpeaker, columns.speaker, "speaker_column"},
           {FieldRole::kLanguage, columns.language, "language_column"},
           {FieldRole::kSplit, columns.split, "split_column"},
           {FieldRole::kStart, columns.start, "start_column"},
           {FieldRole::kEnd, columns.end, "end_column"}}};
}

// A name has one meaning only: with text_column=path, path no longer names audio. If a configured
// column gives the end of a part, a duration is only a further field.
std::vector<FieldNames> names_of_columns(const formats::CorpusColumns& columns) {
  std::vector<FieldNames> names;
  for (const NamedColumn& column : named_columns(columns)) {
    if (!column.name.empty()) names.push_back({column.role, {column.name}});
  }
  const std::vector<FieldNames> named = names;
  for (const FieldNames& known : kNames) {
    if (std::ranges::find(named, known.role, &FieldNames::role) != named.end()) continue;
    FieldNames left = {known.role, {}};
    std::ranges::copy_if(known.all(), left.names.begin(), [&](std::string_view name) {
      return std::ranges::none_of(
          named, [&](const FieldNames& column) { return column.rank_of(name).has_value(); });
    });
    names.push_back(left);
  }
  return names;
}

Result<std::vector<std::string>> tables(const LayoutInput& input) {
  const formats::CorpusColumns& columns = input.config.columns;
  const bool are_named = columns != formats::CorpusColumns();
  return lists_with_rows(input, "", kEndings, names_of_columns(columns), FieldRole::kAudio,
                         are_named ? PipeHeaders::kTaken : PipeHeaders::kRefused);
}

// A configured column that no list has is an error: every clip would lose its value.
Status check_columns(const LayoutInput& input, std::span<const ListSource> sources) {
  const auto names = names_of_columns(input.config.columns);
  for (const NamedColumn& column : named_columns(input.config.columns)) {
    if (column.name.empty()) continue;
    bool is_there = false;
    for (const ListSource& source : sources) {
      XTTS_ASSIGN(const bool has,
                  begins_with_rows(input, source.list, names, column.role, PipeHeaders::kTaken));
      is_there = is_there || has;
    }
    if (is_there) continue;
    XTTS_ASSIGN(const std::string text, beginning_of(input, sources.front().list));
    return {StatusCode::kInvalidArgument, std::string(column.key) + ": " + sources.front().list +
                                              " has no column " + printable(column.name) +
                                              "; it begins with " +
                                              printable(first_line(text).substr(0, 200))};
  }
  return {};
}

Result<std::vector<ListSource>> choose_tables(const LayoutInput& input) {
  const formats::CorpusConfig& config = input.config;
  if (!config.metadata_train_file.empty() || !config.metadata_eval_file.empty()) {
    return choose_lists(input);
  }
  XTTS_TRY(refuse_list_keys(input.config, "table"));
  XTTS_ASSIGN(const std::vector<std::string> lists, tables(input));
  if (lists.empty() && !input.config.columns.audio.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "no table in " + input.tree.root + " has a column " +
                      printable(input.config.columns.audio) +
                      " (audio_column): looked into *.csv, *.tsv, *.jsonl and *.json");
  }
  if (lists.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "no table in " + input.tree.root +
                      ": looked for *.csv, *.tsv, *.jsonl and *.json with a field audio (or "
                      "audio_path, audio_file, path, file, filename, wav, wav_path)");
  }
  return lists_by_split(input, lists, "table");
}

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<std::string> lists, tables(input));
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(names_of(lists) + (lists.size() == 1 ? " has" : " have") +
                  " a field that names audio");
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<ListSource> sources, choose_tables(input));
  XTTS_TRY(check_columns(input, sources));
  return clips_of_rows(input, sources, names_of_columns(input.config.columns), RowIds::kOfAudio,
                       "rows with audio and text, and a header line that names them");
}

}  // namespace
}  // namespace table_layout

Result<bool> is_table(const LayoutInput& input, std::string_view list) {
  return begins_with_rows(input, list, table_layout::kNames, FieldRole::kAudio);
}

extern const Layout kTableLayout = {
    "table",
    "a CSV, TSV or JSONL list with fields audio, text, speaker, ... (or --audio-column, ...)",
    table_layout::detect,
    table_layout::read,
    ListPlace::kInData,
    ListKeys::kTaken};

}  // namespace xtts::corpus
