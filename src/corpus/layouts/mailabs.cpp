// mailabs (M-AILABS): LANGUAGE/by_book/{female,male}/SPEAKER/BOOK/metadata.csv, or
// by_book/mix/BOOK/metadata.csv, lines "NAME|text|normalized text", with the audio in wavs/ beside
// the list. What books of "mix" have for speakers, the corpus does not tell. Names are unique in a
// book, so an id is SPEAKER/BOOK/NAME. A list that cannot be read stops discovery.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_columns.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace mailabs_layout {
namespace {

constexpr std::string_view kListName = "metadata.csv";
constexpr std::string_view kExpected = "lines NAME|text|normalized text";

struct MailabsPlace {
  std::string_view language;  // "de" of de_DE; empty: unknown
  std::string_view gender;    // female, male, mix
  std::string_view speaker;   // empty for mix
  std::string_view inside;    // SPEAKER/BOOK, or the BOOK of mix
};

// "de" of "de_DE".
std::string_view language_of_name(std::string_view name) {
  const bool is_form = name.size() == 5 && name[2] == '_' && name[0] >= 'a' && name[0] <= 'z' &&
                       name[1] >= 'a' && name[1] <= 'z' && name[3] >= 'A' && name[3] <= 'Z' &&
                       name[4] >= 'A' && name[4] <= 'Z';
  return is_form ? name.substr(0, 2) : std::string_view();
}

// Of the folder that a list lies in, by the absolute path of DATA where that is a part of the
// corpus. nullopt: it lies in no by_book/GENDER/.
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
      is_person ? place.inside.find('/') != std::string_view::npos : !place.inside.empty();
  return is_complete ? std::optional(place) : std::nullopt;
}

class MailabsReader {
 public:
  explicit MailabsReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (file_name(file.path) != kListName) return;
      if (!parse_place(place_of(file.path))) return;
      sources_.push_back(
          {std::string(file.path), join_path(folder_of(file.path), "wavs"), std::nullopt});
    });
    if (sources_.empty()) {
      return not_this_layout(input_, "by_book/{female,male}/SPEAKER/BOOK/metadata.csv");
    }
    for (const ListSource& source : sources_) {
      const std::string folder = place_of(source.list);
      const MailabsPlace place = *parse_place(folder);
      XTTS_ASSIGN(ListText list, read_list(input_, source.list));
      XTTS_TRY(read_lines(list, source, clips_,
                          [&](const ListText::Line& line) { read_line(source, place, line); }));
    }
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  // The folder of a list; DATA may itself be one below by_book.
  [[nodiscard]] std::string place_of(std::string_view list) const {
    return join_path(input_.tree.real_root, folder_of(list));
  }

  void read_line(const ListSource& source, const MailabsPlace& place, const ListText::Line& line) {
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, {}, "the line " + *fault);
    }
    const auto row = columns_.split(line.text);
    if (!row.ok()) {
      return clips_.refuse(source, line.number, {}, "the line " + row.status().message());
    }
    const std::string id = join_path(place.inside, without_audio_extension(row->id));
    nlohmann::json extra = {{"gender", std::string(place.gender)},
                            {"book", std::string(file_name(place.inside))}};
    ListedClip clip;
    clip.line = line.number;
    clip.audio = row->id;
    clip.id = id;
    clip.text_raw = row->text_raw;
    clip.text_normalized = row->text_normalized;
    clip.speaker = place.speaker;
    clip.language = place.language;
    clip.extra_json = formats::dump_canonical(extra);
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  const ListColumns columns_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

Detected detect(const LayoutInput& input) {
  return detect_by_file(
      input, FilesAsked::kNotAudio, "M-AILABS lists", "mailabs", [&](const MetFile& file) {
        return file_name(file.path) == kListName &&
               parse_place(join_path(input.tree.real_root, folder_of(file.path))).has_value();
      });
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "mailabs"));
  return MailabsReader(input).read();
}

}  // namespace
}  // namespace mailabs_layout

const Layout kMailabsLayout = {"mailabs",
                               "by_book/{female,male}/SPEAKER/BOOK/metadata.csv beside wavs/",
                               mailabs_layout::detect, mailabs_layout::read};

}  // namespace xtts::corpus
