// mls (Multilingual LibriSpeech): {train,dev,test}/transcripts.txt, lines "ID<TAB>TEXT", with the
// audio in audio/SPEAKER/BOOK/SPEAKER_BOOK_NUMBER beside the list; one language, or a folder of
// several mls_*. A list that cannot be read stops discovery: a corpus without a whole split is not
// what was asked for.

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace mls_layout {
namespace {

constexpr std::string_view kListName = "transcripts.txt";
constexpr std::string_view kExpected = "lines ID<TAB>TEXT";

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kLanguages = {{
    {"dutch", "nl"},
    {"english", "en"},
    {"french", "fr"},
    {"german", "de"},
    {"italian", "it"},
    {"polish", "pl"},
    {"portuguese", "pt"},
    {"spanish", "es"},
}};

// "de" of "mls_german" and "mls_german_opus".
std::optional<std::string_view> language_of_name(std::string_view name) {
  constexpr std::string_view kPrefix = "mls_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name = name.substr(0, name.find('_'));
  for (const auto& [known, code] : kLanguages) {
    if (known == name) return code;
  }
  return std::nullopt;
}

// Empty: unknown.
std::string_view language_of(const DataTree& tree, std::string_view folder) {
  while (!folder.empty()) {
    if (const auto language = language_of_name(take_last_name(folder))) return *language;
  }
  for (const std::string_view name : data_names(tree)) {
    if (const auto language = language_of_name(name)) return *language;
  }
  return {};
}

struct MlsId {
  std::string_view speaker;
  std::string_view book;
};
// nullopt: not SPEAKER_BOOK_NUMBER.
std::optional<MlsId> parse_id(std::string_view id) {
  const auto first = id.find('_');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = id.find('_', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const MlsId found{id.substr(0, first), id.substr(first + 1, second - first - 1)};
  const bool is_id =
      is_number(found.speaker) && is_number(found.book) && is_number(id.substr(second + 1));
  return is_id ? std::optional(found) : std::nullopt;
}

std::string audio_folder_of(std::string_view list) {
  return join_path(folder_of(list), "audio");
}

std::optional<Split> split_of_list(const DataTree& tree, std::string_view path) {
  if (file_name(path) != kListName) return std::nullopt;
  return official_split(nearest_folders(tree, path).nearest);
}

class MlsReader {
 public:
  explicit MlsReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    find_lists();
    if (sources_.empty()) return not_this_layout(input_, "{train,dev,test}/transcripts.txt");
    for (const ListSource& source : sources_) XTTS_TRY(read_split(source));
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  void find_lists() {
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      const auto split = split_of_list(input_.tree, file.path);
      if (!split) return;
      sources_.push_back({std::string(file.path), audio_folder_of(file.path), split});
    });
  }

  Status read_split(const ListSource& source) {
    XTTS_ASSIGN(ListText list, read_list(input_, source.list));
    const std::string_view language = language_of(input_.tree, folder_of(source.list));
    return read_lines(list, source, clips_,
                      [&](const ListText::Line& line) { read_line(source, language, line); });
  }

  void read_line(const ListSource& source, std::string_view language, const ListText::Line& line) {
    const auto tab = line.text.find('\t');
    const std::string_view id = trimmed(line.text.substr(0, tab));
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, id, "the line " + *fault);
    }
    if (tab == std::string_view::npos) {
      return clips_.refuse(source, line.number, {}, "the line has one field; expected ID<TAB>TEXT");
    }
    const auto parts = parse_id(id);
    if (!parts) {
      return clips_.refuse(source, line.number, id, "the id is not SPEAKER_BOOK_NUMBER");
    }
    const std::string audio = join_path(join_path(parts->speaker, parts->book), id);
    ListedClip clip;
    clip.line = line.number;
    clip.audio = audio;
    clip.id = id;
    clip.text_raw = clip.text_normalized = trimmed(line.text.substr(tab + 1));
    clip.speaker = parts->speaker;
    clip.language = language;
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

// A list of that name in a folder of that name may be anybody's; one whose first id is of the form
// is not.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (!split_of_list(input.tree, path)) return false;
  if (!met_folder(input.tree, audio_folder_of(path))) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  const std::string_view line = first_line(text);
  return parse_id(line.substr(0, line.find('\t'))).has_value();
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FilesAsked::kNotAudio, "MLS transcripts", "mls",
                        [&](const MetFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "mls"));
  return MlsReader(input).read();
}

}  // namespace
}  // namespace mls_layout

const Layout kMlsLayout = {
    "mls", "{train,dev,test}/transcripts.txt (id, tab, text) beside audio/SPEAKER/BOOK/",
    mls_layout::detect, mls_layout::read};

}  // namespace xtts::corpus
