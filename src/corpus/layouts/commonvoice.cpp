// commonvoice: LANG/clips/ beside train.tsv, dev.tsv and test.tsv, or validated.tsv alone, or where
// metadata_train_file=validated.tsv asks for it (it holds some four times as many clips); one
// language, or a folder of several. Columns go by the header's names, since their order and number
// differ between releases. other.tsv, invalidated.tsv, reported.tsv and the tables of durations are
// never read.

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/names.hpp"
#include "corpus/tsv_rows.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace commonvoice_layout {
namespace {

constexpr std::string_view kExpected =
    "a header line with client_id, path and sentence, and a row for each clip";

struct ListKind {
  std::string_view name;
  std::optional<Split> split;
};
// Of equal ids the first stays, so that this order is part of what a corpus gives.
constexpr std::array<ListKind, 4> kLists = {{{"train.tsv", Split::kTrain},
                                             {"dev.tsv", Split::kValidation},
                                             {"test.tsv", Split::kTest},
                                             {"validated.tsv", std::nullopt}}};
constexpr std::size_t kValidated = 3;

// Whether validated.tsv is asked for, of each language.
bool wants_validated(const formats::CorpusConfig& config) {
  return file_name(config.metadata_train_file) == kLists[kValidated].name;
}

std::optional<std::size_t> kind_of_list(std::string_view path) {
  const std::string_view name = file_name(path);
  for (std::size_t i = 0; i < kLists.size(); ++i) {
    if (kLists[i].name == name) return i;
  }
  return std::nullopt;
}

std::string clips_folder_of(std::string_view list) {
  return join_path(folder_of(list), "clips");
}

bool is_list(const DataTree& tree, std::string_view path) {
  return kind_of_list(path) && met_folder(tree, clips_folder_of(path));
}

// The columns of one list that have a meaning here; the others are kept as they are.
struct Columns {
  explicit Columns(const TsvRows& rows)
      : client_id(rows.column("client_id")),
        path(rows.column("path")),
        sentence(rows.column("sentence")),
        locale(rows.column("locale")) {
    for (std::size_t i = 0; i < rows.names().size(); ++i) {
      const bool is_known = i == client_id || i == path || i == sentence || i == locale;
      if (!is_known && !rows.names()[i].empty()) others.push_back(i);
    }
  }

  std::optional<std::size_t> client_id, path, sentence, locale;
  std::vector<std::size_t> others;
};

std::string extra_of(const TsvRows& rows, const Columns& columns) {
  nlohmann::json extra = nlohmann::json::object();
  for (const std::size_t column : columns.others) {
    const std::string_view value = rows.field(column);
    if (!value.empty()) extra[rows.names()[column]] = std::string(value);
  }
  return extra.empty() ? std::string() : formats::dump_canonical(extra);
}

class CommonVoiceReader {
 public:
  explicit CommonVoiceReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    choose_lists();
    if (sources_.empty())
      return not_this_layout(input_, "train.tsv or validated.tsv beside clips/");
    for (const ListSource& source : sources_) XTTS_TRY(read_table(source));
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  using LanguageLists = std::array<std::optional<std::string_view>, kLists.size()>;

  void choose_lists() {
    std::map<std::string_view, LanguageLists> languages;  // by folder
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (is_list(input_.tree, file.path)) {
        languages[folder_of(file.path)][*kind_of_list(file.path)] = file.path;
      }
    });
    std::vector<std::string_view> passed_over;
    for (const auto& [folder, lists] : languages) {
      const bool has_splits = lists[0] || lists[1] || lists[2];
      const bool is_all = wants_validated(input_.config) && lists[kValidated];
      for (std::size_t i = 0; i < lists.size(); ++i) {
        if (!lists[i] || (is_all && i != kValidated)) continue;
        if (i == kValidated && has_splits && !is_all) {
          passed_over.push_back(*lists[i]);
        } else {
          sources_.push_back({std::string(*lists[i]), clips_folder_of(*lists[i]), kLists[i].split});
        }
      }
    }
    note_passed_over(passed_over);
  }

  void note_passed_over(const std::vector<std::string_view>& lists) {
    if (lists.empty()) return;
    const std::string verb =
        lists.size() > 1 ? " and " + counted(lists.size() - 1, "more is", "more are") : " is";
    clips_.note(printable(lists.front()) + verb +
                " not read: the official splits of train.tsv, dev.tsv and test.tsv are used; "
                "--set corpus.metadata_train_file=validated.tsv reads all validated clips instead");
  }

  Status read_table(const ListSource& source) {
    XTTS_ASSIGN(ListText list, read_list(input_, source.list));
    const auto header = list.next();
    const std::string_view header_text = header ? header->text : std::string_view();
    TsvRows rows(header_text);
    const Columns columns(rows);
    if (fault_of_text_bytes(header_text) || !columns.path || !columns.sentence) {
      return {StatusCode::kInvalidArgument, printable(source.list) + " begins with '" +
                                                printable(header_text.substr(0, kLabelBytesMax)) +
                                                "'; expected " + std::string(kExpected)};
    }
    const std::string_view folder = nearest_folders(input_.tree, source.list).nearest;
    return read_lines(list, source, clips_, [&](const ListText::Line& line) {
      read_row(source, line, rows, columns, folder);
    });
  }

  void read_row(const ListSource& source, const ListText::Line& line, TsvRows& rows,
                const Columns& columns, std::string_view folder) {
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, {}, "the line " + *fault);
    }
    if (const Status status = rows.take(line.text); !status.ok()) {
      return clips_.refuse(source, line.number, {}, "the line " + status.message());
    }
    const std::string_view path = rows.field(columns.path);
    const std::string_view id = without_audio_extension(file_name(path));
    if (const auto fault = fault_of_listed_path(path)) {
      return clips_.refuse(source, line.number, path, *fault);
    }
    ListedClip clip;
    clip.line = line.number;
    // Many have their MP3 converted, and the lists as they were.
    clip.audio = clips_.has_audio(source, path) ? path : without_audio_extension(path);
    clip.id = id;
    clip.text_raw = clip.text_normalized = rows.field(columns.sentence);
    clip.speaker = rows.field(columns.client_id);
    clip.language = rows.field(columns.locale);
    if (clip.language.empty()) clip.language = folder;
    clip.extra_json = extra_of(rows, columns);
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

// Tables of these names beside a folder of clips are not rare; the names of two columns make sure.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (!is_list(input.tree, path)) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  const TsvRows rows(first_line(text));
  return rows.column("client_id") && rows.column("path");
}

Detected detect(const LayoutInput& input) {
  const auto is_list_of_it = [&](const MetFile& file) { return looks_like_list(input, file.path); };
  if (!wants_validated(input.config)) {
    return detect_by_file(input, FilesAsked::kNotAudio, "Common Voice lists", "commonvoice",
                          is_list_of_it);
  }
  // A list that is named is otherwise one of the user's own.
  formats::CorpusConfig config = input.config;
  config.metadata_train_file.clear();
  return detect_by_file(LayoutInput{input.env, input.tree, config}, FilesAsked::kNotAudio,
                        "Common Voice lists", "commonvoice", is_list_of_it);
}

Result<Findings> read(const LayoutInput& input) {
  formats::CorpusConfig config = input.config;
  if (wants_validated(config)) config.metadata_train_file.clear();
  XTTS_TRY(refuse_list_keys(config, "commonvoice"));
  return CommonVoiceReader(input).read();
}

}  // namespace
}  // namespace commonvoice_layout

const Layout kCommonVoiceLayout = {
    "commonvoice", "LANG/clips/ beside train.tsv, dev.tsv and test.tsv, or validated.tsv",
    commonvoice_layout::detect, commonvoice_layout::read};

}  // namespace xtts::corpus
