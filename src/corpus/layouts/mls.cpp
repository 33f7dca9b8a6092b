// mls (Multilingual LibriSpeech): {train,dev,test}/transcripts.txt, lines "ID<TAB>TEXT", with the
// audio in audio/SPEAKER/BOOK/SPEAKER_BOOK_NUMBER beside the list; one language, or a folder of
// several mls_*. An unreadable list stops discovery: a corpus must not lose a whole split.

#include <optional>
#include <string>
#include <string_view>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace mls_layout {
namespace {

constexpr std::string_view kListName = "transcripts.txt";
constexpr LineForm kForm = {"{train,dev,test}/transcripts.txt", "lines ID<TAB>TEXT", "\t"};

// "de" for "mls_german" and "mls_german_opus"; empty: another form.
std::string_view language_of_name(std::string_view name) {
  constexpr std::string_view kPrefix = "mls_";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  return language_named(name.substr(0, name.find('_')));
}

struct MlsId {
  std::string_view speaker;
  std::string_view book;
};
// nullopt: not of the form SPEAKER_BOOK_NUMBER.
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

std::optional<std::string> add_line(const ListLine& line, std::string_view language) {
  const auto tab = line.text.find('\t');
  if (tab == std::string_view::npos) return "the line has one field; expected ID<TAB>TEXT";
  const std::string_view id = trimmed(line.text.substr(0, tab));
  const auto parts = parse_id(id);
  if (!parts) return "the id is not SPEAKER_BOOK_NUMBER";
  const std::string audio = join_path(join_path(parts->speaker, parts->book), id);
  ListedClip clip;
  clip.audio = audio;
  clip.id = id;
  clip.text_raw = clip.text_normalized = trimmed(line.text.substr(tab + 1));
  clip.speaker = parts->speaker;
  clip.language = language;
  line.add(clip);
  return std::nullopt;
}

// These names of list and folder are common, so the first id must have the form.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (!split_of_list(input.tree, path)) return false;
  if (!has_walked_folder(input.tree, audio_folder_of(path))) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  const std::string_view line = first_line(text);
  return parse_id(line.substr(0, line.find('\t'))).has_value();
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "MLS transcripts",
                        [&](const WalkedFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  const auto sources =
      lists_found(input.tree, [&](const WalkedFile& file) -> std::optional<ListSource> {
        const auto split = split_of_list(input.tree, file.path);
        if (!split) return std::nullopt;
        return ListSource{std::string(file.path), audio_folder_of(file.path), split};
      });
  return clips_of_lines(input, sources, kForm, [&](const OpenList& list) -> Result<ReadLine> {
    const std::string_view language =
        language_by_folders(input.tree, folder_of(list.source.list), language_of_name);
    return ReadLine([language](const ListLine& line) { return add_line(line, language); });
  });
}

}  // namespace
}  // namespace mls_layout

extern const Layout kMlsLayout = {
    "mls", "{train,dev,test}/transcripts.txt (id, tab, text) beside audio/SPEAKER/BOOK/",
    mls_layout::detect, mls_layout::read};

}  // namespace xtts::corpus
