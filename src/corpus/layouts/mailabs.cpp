// mailabs (M-AILABS): LANGUAGE/by_book/{female,male}/SPEAKER/BOOK/metadata.csv, or
// by_book/mix/BOOK/metadata.csv, lines "NAME|text|normalized text", with the audio in wavs/ beside
// the list. The corpus does not give the speakers of "mix" books. Names are unique in a book, so
// an id is SPEAKER/BOOK/NAME. An unreadable list stops discovery.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "corpus/audio_extensions.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/pipe_columns.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace mailabs_layout {
namespace {

constexpr std::string_view kListName = "metadata.csv";
constexpr LineForm kForm = {
    "by_book/{female,male}/SPEAKER/BOOK/metadata.csv", "lines NAME|text|normalized text", {}};

struct MailabsPlace {
  std::string language;  // "de" for de_DE; empty: unknown
  std::string gender;    // female, male, mix
  std::string speaker;   // empty for mix
  std::string inside;    // SPEAKER/BOOK; for mix, BOOK
};

// "de" for "de_DE".
std::string_view language_of_name(std::string_view name) {
  const bool is_form = name.size() == 5 && name[2] == '_' && name[0] >= 'a' && name[0] <= 'z' &&
                       name[1] >= 'a' && name[1] <= 'z' && name[3] >= 'A' && name[3] <= 'Z' &&
                       name[4] >= 'A' && name[4] <= 'Z';
  return is_form ? name.substr(0, 2) : std::string_view();
}

// Parses the folder of a list, given with DATA's absolute path if that is part of the corpus.
// nullopt: it is in no by_book/GENDER/.
std::optional<MailabsPlace> parse_place(std::string_view folder) {
  constexpr std::string_view kByBook = "by_book";
  MailabsPlace place;
  bool is_below = false;
  while (!folder.empty()) {
    const auto slash = folder.find('/');
    const std::string_view name = folder.substr(0, slash);
    folder.remove_prefix(slash == std::string_view::npos ? folder.size() : slash + 1);
    if (is_below) {
      place.gender = name;
      place.inside = folder;
      break;
    }
    if (name == kByBook) is_below = true;
    const std::string_view language = language_of_name(name);
    if (!language.empty()) place.language = language;
  }
  const bool is_person = place.gender == "female" || place.gender == "male";
  if (!is_person && place.gender != "mix") return std::nullopt;
  if (is_person) place.speaker = place.inside.substr(0, place.inside.find('/'));
  const bool is_complete =
      is_person ? place.inside.find('/') != std::string::npos : !place.inside.empty();
  return is_complete ? std::optional(place) : std::nullopt;
}

// nullopt: not a list of this layout. DATA itself may be a folder below by_book.
std::optional<MailabsPlace> place_of(const DataTree& tree, std::string_view list) {
  if (file_name(list) != kListName) return std::nullopt;
  return parse_place(join_path(tree.real_root, folder_of(list)));
}

std::optional<std::string> add_line(const ListLine& line, const MailabsPlace& place) {
  const auto row = PipeColumns().split(line.text);
  if (!row.ok()) return "the line " + row.status().message();
  const std::string id = join_path(place.inside, without_audio_extension(row->id));
  ListedClip clip = listed(*row);
  clip.id = id;
  clip.speaker = place.speaker;
  clip.language = place.language;
  clip.extra_json = formats::dump_canonical(
      {{"gender", std::string(place.gender)}, {"book", std::string(file_name(place.inside))}});
  line.add(clip);
  return std::nullopt;
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(
      input, FileFilter::kNotAudio, "M-AILABS lists",
      [&](const WalkedFile& file) { return place_of(input.tree, file.path).has_value(); });
}

Result<Findings> read(const LayoutInput& input) {
  const auto sources =
      lists_found(input.tree, [&](const WalkedFile& file) -> std::optional<ListSource> {
        if (!place_of(input.tree, file.path)) return std::nullopt;
        return ListSource{std::string(file.path), join_path(folder_of(file.path), "wavs"),
                          std::nullopt};
      });
  return clips_of_lines(input, sources, kForm, [&](const OpenList& list) -> Result<ReadLine> {
    const MailabsPlace place = *place_of(input.tree, list.source.list);
    return ReadLine([place](const ListLine& line) { return add_line(line, place); });
  });
}

}  // namespace
}  // namespace mailabs_layout

extern const Layout kMailabsLayout = {
    "mailabs", "by_book/{female,male}/SPEAKER/BOOK/metadata.csv beside wavs/",
    mailabs_layout::detect, mailabs_layout::read};

}  // namespace xtts::corpus
