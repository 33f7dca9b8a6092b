// css10: transcript.txt, lines "FOLDER/NAME.wav|text|normalized text|seconds", with the audio
// beside the list; one language, or a folder of several. Each language has one reader, whose name
// the corpus does not give. An unreadable list stops discovery.

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace css10_layout {
namespace {

constexpr std::string_view kListName = "transcript.txt";
constexpr LineForm kForm = {kListName, "lines PATH|text|normalized text|seconds", "|"};

// The language, from the name of the list's folder or of DATA; empty: unknown.
std::string_view language_of(const DataTree& tree, std::string_view folder) {
  std::vector<std::string_view> names = data_names(tree);
  if (!folder.empty()) names = {file_name(folder)};
  for (const std::string_view name : names) {
    if (const auto language = language_named(name); !language.empty()) return language;
  }
  return {};
}

struct Css10Line {
  std::string_view audio;
  std::string_view raw;
  std::string_view normalized;
  double seconds = 0.0;
};
// nullopt: not four fields, the first an audio file and the last a number. A text with '|' in it
// makes five fields.
std::optional<Css10Line> parse_line(std::string_view line) {
  const std::vector<std::string_view> fields = fields_of(line, '|');
  if (fields.size() != 4 || !audio_rank(file_extension(fields[0]))) return std::nullopt;
  Css10Line found{fields[0], fields[1], fields[2]};
  const char* const end = fields[3].data() + fields[3].size();
  const auto parsed = std::from_chars(fields[3].data(), end, found.seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return found;
}

std::optional<std::string> add_line(const ListLine& line, std::string_view language) {
  const auto parsed = parse_line(line.text);
  if (!parsed) return "the line is not PATH|text|normalized text|seconds";
  const std::string id =
      join_path(folder_of(line.list.source.list), without_audio_extension(parsed->audio));
  ListedClip clip;
  clip.audio = parsed->audio;
  clip.id = id;
  clip.text_raw = parsed->raw;
  clip.text_normalized = parsed->normalized;
  clip.language = language;
  clip.extra_json = formats::dump_canonical({{"duration", parsed->seconds}});
  line.add(clip);
  return std::nullopt;
}

// transcript.txt is a common name, so the first line must have the form.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (file_name(path) != kListName) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  return parse_line(first_line(text)).has_value();
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "CSS10 transcripts",
                        [&](const WalkedFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  const auto sources =
      lists_found(input.tree, [](const WalkedFile& file) -> std::optional<ListSource> {
        if (file_name(file.path) != kListName) return std::nullopt;
        return ListSource{std::string(file.path), std::string(folder_of(file.path)), std::nullopt};
      });
  return clips_of_lines(input, sources, kForm, [&](const OpenList& list) -> Result<ReadLine> {
    const std::string_view language = language_of(input.tree, folder_of(list.source.list));
    return ReadLine([language](const ListLine& line) { return add_line(line, language); });
  });
}

}  // namespace
}  // namespace css10_layout

extern const Layout kCss10Layout = {
    "css10", "transcript.txt (path|text|normalized text|seconds) beside its audio",
    css10_layout::detect, css10_layout::read};

}  // namespace xtts::corpus
