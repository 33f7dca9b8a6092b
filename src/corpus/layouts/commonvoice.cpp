// commonvoice: LANG/clips/ beside train.tsv, dev.tsv and test.tsv; one language, or a folder of
// several. validated.tsv is read where it is alone, or with metadata_train_file=validated.tsv (it
// holds some four times as many clips). Columns are found by the header's names, because their
// order and number differ between releases. other.tsv, invalidated.tsv, reported.tsv and the
// tables of durations are never read.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/escaped_tsv.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/canonical_json.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace commonvoice_layout {
namespace {

constexpr std::string_view kExpected =
    "a header line with client_id, path and sentence, and a row for each clip";

struct ListKind {
  std::string_view name;
  std::optional<Split> split;
};
// For equal ids the first clip stays, so this order affects the corpus.
constexpr std::array<ListKind, 4> kLists = {{{"train.tsv", Split::kTrain},
                                             {"dev.tsv", Split::kValidation},
                                             {"test.tsv", Split::kTest},
                                             {"validated.tsv", std::nullopt}}};
constexpr std::size_t kValidated = 3;

// True where the config asks for validated.tsv, for every language.
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
  return kind_of_list(path) && has_walked_folder(tree, clips_folder_of(path));
}

// The known columns of one list; other columns are kept unchanged.
struct Columns {
  explicit Columns(const EscapedTsv& rows)
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

std::string extra_of(const EscapedTsv& rows, const Columns& columns) {
  nlohmann::json extra = nlohmann::json::object();
  for (const std::size_t column : columns.others) {
    const std::string_view value = rows.field(column);
    if (!value.empty()) extra[rows.names()[column]] = std::string(value);
  }
  return extra.empty() ? std::string() : formats::dump_canonical(extra);
}

struct ChosenLists {
  std::vector<ListSource> sources;
  std::vector<std::string_view> passed_over;
};

ChosenLists choose_tables(const LayoutInput& input) {
  std::map<std::string_view, std::array<std::optional<std::string_view>, kLists.size()>> languages;
  for_each_file(input.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    if (is_list(input.tree, file.path)) {
      languages[folder_of(file.path)][*kind_of_list(file.path)] = file.path;
    }
  });
  ChosenLists chosen;
  for (const auto& [folder, lists] : languages) {
    const bool has_splits = lists[0] || lists[1] || lists[2];
    const bool is_all = wants_validated(input.config) && lists[kValidated];
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (!lists[i] || (is_all && i != kValidated)) continue;
      if (i == kValidated && has_splits && !is_all) {
        chosen.passed_over.push_back(*lists[i]);
      } else {
        chosen.sources.push_back(
            {std::string(*lists[i]), clips_folder_of(*lists[i]), kLists[i].split});
      }
    }
  }
  return chosen;
}

void note_passed_over(const std::vector<std::string_view>& passed_over, ClipCollector& clips) {
  if (passed_over.empty()) return;
  const std::size_t more_count = passed_over.size() - 1;
  const std::string verb =
      more_count > 0 ? " and " + counted(more_count, "more is", "more are") : " is";
  clips.note(
      formatted("{}{} not read: the official splits of train.tsv, dev.tsv and test.tsv are used; "
                "{} reads all validated clips instead",
                printable(passed_over.front()), verb,
                option_set("corpus.metadata_train_file", "validated.tsv")));
}

// A table of one language, row by row.
class CommonVoiceTable {
 public:
  // kInvalidArgument: the header lacks a required column.
  static Result<ReadLine> open(const DataTree& tree, const OpenList& list) {
    const auto header = list.lines.next();
    const std::string_view text = header ? header->text : std::string_view();
    const auto table = std::make_shared<CommonVoiceTable>(text);
    if (fault_of_text_bytes(text) || !table->columns_.path || !table->columns_.sentence) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("{} begins with '{}'; expected {}", printable(list.source.list),
                              printable(text.substr(0, kLabelBytesMax)), kExpected));
    }
    const std::string_view folder = nearest_folders(tree, list.source.list).nearest;
    return ReadLine([table, folder](const ListLine& line) { return table->add_row(line, folder); });
  }

  explicit CommonVoiceTable(std::string_view header) : rows_(header), columns_(rows_) {}

 private:
  std::optional<std::string> add_row(const ListLine& line, std::string_view folder) {
    if (const Status status = rows_.take(line.text); !status.ok())
      return "the line " + status.message();
    const std::string_view path = rows_.field(columns_.path);
    if (auto fault = fault_of_listed_path(path)) {
      line.refuse(path, std::move(*fault));
      return std::nullopt;
    }
    ListedClip clip;
    // Many users convert the MP3 files and leave the lists unchanged.
    const bool is_there = line.list.clips.has_audio(line.list.source, path);
    clip.audio = is_there ? path : without_audio_extension(path);
    clip.id = without_audio_extension(file_name(path));
    clip.text_raw = clip.text_normalized = rows_.field(columns_.sentence);
    clip.speaker = rows_.field(columns_.client_id);
    clip.language = rows_.field(columns_.locale);
    if (clip.language.empty()) clip.language = folder;
    clip.extra_json = extra_of(rows_, columns_);
    line.add(clip);
    return std::nullopt;
  }

  EscapedTsv rows_;
  Columns columns_;
};

// Lists with these names beside a folder of clips are common, so two columns must match, too.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (!is_list(input.tree, path)) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  const EscapedTsv rows(first_line(text));
  return rows.column("client_id") && rows.column("path");
}

Detected detect(const LayoutInput& input) {
  const auto is_list_of_it = [&](const WalkedFile& file) {
    return looks_like_list(input, file.path);
  };
  if (!wants_validated(input.config)) {
    return detect_by_file(input, FileFilter::kNotAudio, "Common Voice lists", is_list_of_it);
  }
  // With this key set, detection would refuse to look: the key usually names a user's own list.
  formats::CorpusConfig config = input.config;
  config.metadata_train_file.clear();
  return detect_by_file(LayoutInput{input.env, input.tree, config}, FileFilter::kNotAudio,
                        "Common Voice lists", is_list_of_it);
}

Result<Findings> read(const LayoutInput& input) {
  formats::CorpusConfig config = input.config;
  if (wants_validated(config)) config.metadata_train_file.clear();
  XTTS_TRY(refuse_list_keys(config, "commonvoice"));
  const ChosenLists chosen = choose_tables(input);
  if (chosen.sources.empty())
    return not_this_layout(input, "train.tsv or validated.tsv beside clips/");
  ClipCollector clips(input);
  note_passed_over(chosen.passed_over, clips);
  for (const ListSource& source : chosen.sources) {
    XTTS_ASSIGN(LineReader lines, read_list(input, source.list));
    const OpenList list{source, lines, clips};
    XTTS_ASSIGN(const ReadLine read, CommonVoiceTable::open(input.tree, list));
    XTTS_TRY(read_lines(list, {}, read));
  }
  clips.refuse_folders();
  return clips.finish(chosen.sources, kExpected);
}

}  // namespace
}  // namespace commonvoice_layout

extern const Layout kCommonVoiceLayout = {
    "commonvoice",
    "LANG/clips/ beside train.tsv, dev.tsv and test.tsv, or validated.tsv",
    commonvoice_layout::detect,
    commonvoice_layout::read,
    ListPlace::kAnywhere,
    ListKeys::kTaken};

}  // namespace xtts::corpus
