// openslr: line_index*.tsv, as Google's corpora on OpenSLR have it: lines "NAME<TAB>text",
// sometimes with other fields between, without a header. The audio is NAME.wav in wavs/, beside the
// list, or in any folder below the list's. A list that cannot be read stops discovery.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/named_audio.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace openslr_layout {
namespace {

constexpr std::string_view kExpected = "lines NAME<TAB>text";

// line_index.tsv; line_index_female.tsv and line_index_male.tsv where there are two.
bool is_list(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("line_index") && equals_ignoring_case(file_extension(name), "tsv");
}

bool is_lower_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// "mlf_00081" of "mlf_00081_00000123456": a voice, and a number of the person, as the corpora write
// their names; empty: another form.
std::string_view speaker_of(std::string_view name) {
  const auto first = name.find('_');
  if (first == std::string_view::npos || !is_lower_word(name.substr(0, first))) return {};
  const auto second = name.find('_', first + 1);
  if (second == std::string_view::npos) return {};
  const bool is_form =
      is_number(name.substr(first + 1, second - first - 1)) && is_number(name.substr(second + 1));
  return is_form ? name.substr(0, second) : std::string_view();
}

// "ml" of a folder ml_in_female or ml_in; empty: not named so.
std::string_view language_of_name(std::string_view name) {
  const bool is_form = name.size() >= 5 && name[2] == '_' && is_lower_word(name.substr(0, 2)) &&
                       is_lower_word(name.substr(3, 2)) && (name.size() == 5 || name[5] == '_');
  return is_form ? name.substr(0, 2) : std::string_view();
}

std::string_view language_of(const DataTree& tree, std::string_view path) {
  path = folder_of(path);
  while (!path.empty()) {
    const std::string_view language = language_of_name(take_last_name(path));
    if (!language.empty()) return language;
  }
  for (const std::string_view name : data_names(tree)) {
    const std::string_view language = language_of_name(name);
    if (!language.empty()) return language;
  }
  return {};
}

class OpenslrReader {
 public:
  explicit OpenslrReader(const LayoutInput& input)
      : input_(input), audio_(input.tree), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (is_list(file.path)) sources_.push_back({std::string(file.path), "", std::nullopt});
    });
    if (sources_.empty()) return not_this_layout(input_, "line_index.tsv");
    for (const ListSource& source : sources_) {
      XTTS_ASSIGN(ListText list, read_list(input_, source.list));
      XTTS_TRY(read_lines(list, source, clips_,
                          [&](const ListText::Line& line) { read_line(source, line); }));
    }
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  void read_line(const ListSource& source, const ListText::Line& line) {
    const std::vector<std::string_view> fields = fields_of(line.text, '\t');
    const std::string_view name = without_audio_extension(fields.front());
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, name, "the line " + *fault);
    }
    if (fields.size() < 2) {
      return clips_.refuse(source, line.number, {},
                           "the line has one field; expected " + std::string(kExpected));
    }
    const std::string_view folder = folder_of(source.list);
    const TreeFile* audio = audio_.find(folder, file_name(name));
    // Two lists side by side may name the same file.
    const std::string listed = audio == nullptr ? join_path(folder, name) : audio->path;
    ListedClip clip;
    clip.line = line.number;
    clip.audio = listed;
    clip.id = name;
    clip.text_raw = fields.back();
    clip.text_normalized = fields.back();
    clip.speaker = speaker_of(name);
    clip.language = language_of(input_.tree, listed);
    clip.extra_json = further_fields(fields);
    clips_.add(source, clip);
  }

  // Those between the name and the text, which the lists do not name.
  static std::string further_fields(const std::vector<std::string_view>& fields) {
    nlohmann::json further = nlohmann::json::object();
    for (std::size_t i = 1; i + 1 < fields.size(); ++i) {
      if (!fields[i].empty()) further["column_" + std::to_string(i + 1)] = std::string(fields[i]);
    }
    return further.empty() ? std::string() : formats::dump_canonical(further);
  }

  const LayoutInput& input_;
  NamedAudio audio_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FilesAsked::kNotAudio, "OpenSLR lists", "openslr",
                        [](const MetFile& file) { return is_list(file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "openslr"));
  return OpenslrReader(input).read();
}

}  // namespace
}  // namespace openslr_layout

const Layout kOpenslrLayout = {
    "openslr", "line_index.tsv (name, tab, text) with its audio beside or in folders below",
    openslr_layout::detect, openslr_layout::read};

}  // namespace xtts::corpus
