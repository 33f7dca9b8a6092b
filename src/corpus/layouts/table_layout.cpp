// table: a list from any source in DATA, with a header line (CSV, TSV, ';') or as JSON lines.
// Field names give the meaning: audio, text, start, end, speaker, language, split and their usual
// synonyms. A name from the recipe (audio_column and the like) replaces all names for its meaning.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/table_layout.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/list_choice.hpp"
#include "corpus/lists/named_rows.hpp"
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

// "audio, audio_path, ...".
std::string known_names(FieldRole role) {
  std::string text;
  for (const std::string_view name : std::ranges::find(kNames, role, &FieldNames::role)->all())
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// Column names, if the two lines look like those of a table; else nothing. A first line that names
// audio is a row, not a header.
std::vector<std::string> header_of(std::string_view text) {
  const std::string_view header = take_line(text);
  if (header.find('|') != std::string_view::npos) return {};
  std::vector<std::string> names = names_of_header(header);
  if (names.size() < 2 || names_of_header(first_line(text)).size() != names.size()) return {};
  const bool names_audio = std::ranges::any_of(
      names, [](const std::string& name) { return audio_rank(file_extension(name)).has_value(); });
  return names_audio ? std::vector<std::string>() : names;
}

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
    return {StatusCode::kInvalidArgument,
            formatted("{}: {} has no column {}; it begins with {}", std::string(column.key),
                      sources.front().list, printable(column.name),
                      printable(first_line(text).substr(0, 200)))};
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
                  formatted("no table in {} has a column {} (audio_column): looked into *.csv, "
                            "*.tsv, *.jsonl and *.json",
                            input.tree.root, printable(input.config.columns.audio)));
  }
  if (lists.empty()) {
    for (const std::string& list : lists_in(input.tree, "", kEndings)) {
      const auto refusal = refusal_of_columns(input, list);
      if (refusal) return refusal->with_context("no table in " + input.tree.root);
    }
    return Status(
        StatusCode::kInvalidArgument,
        formatted("no table in {}: looked for *.csv, *.tsv, *.jsonl and *.json with a field audio "
                  "(or audio_path, audio_file, path, file, filename, wav, wav_path)",
                  input.tree.root));
  }
  return lists_by_split(input, lists, "table");
}

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<std::string> lists, tables(input));
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(formatted("{}{} a field that names audio", names_of(lists),
                            lists.size() == 1 ? " has" : " have"));
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

std::optional<Status> refusal_of_columns(const LayoutInput& input, std::string_view list) {
  const auto text = beginning_of(input, list);
  if (!text || has_json_lines(list)) return std::nullopt;
  const std::vector<std::string> columns = table_layout::header_of(*text);
  if (columns.empty()) return std::nullopt;
  std::string names;
  for (const std::string& column : columns)
    names += (names.empty() ? "" : ", ") + printable(column);
  return Status(StatusCode::kInvalidArgument,
                formatted("{} has the columns {}, and none of these names is known for the audio. "
                          "Say which column is which: {}, {} and so on; or make a line of known "
                          "names its first line (audio: {}; text: {})",
                          printable(list), names,
                          option_or_setting("audio-column", "corpus.audio_column", "NAME"),
                          option_or_setting("text-column", "corpus.text_column", "NAME"),
                          table_layout::known_names(FieldRole::kAudio),
                          table_layout::known_names(FieldRole::kRaw)));
}

extern const Layout kTableLayout = {
    "table",
    "a CSV, TSV or JSONL list with fields audio, text, speaker, ... (or --audio-column, ...)",
    table_layout::detect,
    table_layout::read,
    ListPlace::kInData,
    ListKeys::kTaken};

}  // namespace xtts::corpus
