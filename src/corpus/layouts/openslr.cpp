// openslr: line_index*.tsv of Google's corpora on OpenSLR: lines "NAME<TAB>text", sometimes with
// other fields between, no header. The audio is NAME.wav in wavs/, beside the list, or in any
// folder below the list's. An unreadable list stops discovery.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/audio_extensions.hpp"
#include "corpus/audio_index.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace openslr_layout {
namespace {

constexpr LineForm kForm = {"line_index.tsv", "lines NAME<TAB>text", "\t"};

// line_index.tsv, or the pair line_index_female.tsv and line_index_male.tsv.
bool is_list(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("line_index") && equals_ignoring_case(file_extension(name), "tsv");
}

bool is_lower_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// "mlf_00081" for "mlf_00081_00000123456": a voice and the person's number. Empty: another form.
std::string_view speaker_of(std::string_view name) {
  const auto first = name.find('_');
  if (first == std::string_view::npos || !is_lower_word(name.substr(0, first))) return {};
  const auto second = name.find('_', first + 1);
  if (second == std::string_view::npos) return {};
  const bool is_form =
      is_number(name.substr(first + 1, second - first - 1)) && is_number(name.substr(second + 1));
  return is_form ? name.substr(0, second) : std::string_view();
}

// "ml" for a folder ml_in_female or ml_in; empty: another form.
std::string_view language_of_name(std::string_view name) {
  const bool is_form = name.size() >= 5 && name[2] == '_' && is_lower_word(name.substr(0, 2)) &&
                       is_lower_word(name.substr(3, 2)) && (name.size() == 5 || name[5] == '_');
  return is_form ? name.substr(0, 2) : std::string_view();
}

// The fields between the name and the text; the lists give them no names.
std::string further_fields(const std::vector<std::string_view>& fields) {
  nlohmann::json further = nlohmann::json::object();
  for (std::size_t i = 1; i + 1 < fields.size(); ++i) {
    if (!fields[i].empty()) further["column_" + std::to_string(i + 1)] = std::string(fields[i]);
  }
  return further.empty() ? std::string() : formats::dump_canonical(further);
}

std::optional<std::string> add_line(const ListLine& line, const DataTree& tree,
                                    const NamedAudio& audio_by_name) {
  const std::vector<std::string_view> fields = fields_of(line.text, '\t');
  if (fields.size() < 2) {
    return "the line has one field; expected " + std::string(kForm.expected);
  }
  const std::string_view name = without_audio_extension(fields.front());
  const std::string_view folder = folder_of(line.list.source.list);
  const TreeFile* audio = audio_by_name.find(folder, file_name(name));
  // Neighbouring lists may name the same file.
  const std::string listed = audio == nullptr ? join_path(folder, name) : audio->path;
  ListedClip clip;
  clip.audio = listed;
  clip.id = name;
  clip.text_raw = clip.text_normalized = fields.back();
  clip.speaker = speaker_of(name);
  clip.language = language_by_folders(tree, folder_of(listed), language_of_name);
  clip.extra_json = further_fields(fields);
  line.add(clip);
  return std::nullopt;
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "OpenSLR lists",
                        [](const WalkedFile& file) { return is_list(file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  const auto sources = lists_found(input.tree, [](const WalkedFile& file) {
    return is_list(file.path) ? std::optional(ListSource{std::string(file.path), "", std::nullopt})
                              : std::nullopt;
  });
  const NamedAudio audio(input.tree);
  return clips_of_lines(input, sources, kForm, [&](const OpenList&) -> Result<ReadLine> {
    return ReadLine([&](const ListLine& line) { return add_line(line, input.tree, audio); });
  });
}

}  // namespace
}  // namespace openslr_layout

extern const Layout kOpenslrLayout = {
    "openslr", "line_index.tsv (name, tab, text) with its audio beside or in folders below",
    openslr_layout::detect, openslr_layout::read};

}  // namespace xtts::corpus
