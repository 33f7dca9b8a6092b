// css10: transcript.txt, lines "FOLDER/NAME.wav|text|normalized text|seconds", with the audio
// beside the list; one language, or a folder of several. Each language has one reader, whose name
// the corpus does not tell. A list that cannot be read stops discovery.

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace css10_layout {
namespace {

constexpr std::string_view kListName = "transcript.txt";
constexpr std::string_view kExpected = "lines PATH|text|normalized text|seconds";

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kLanguages = {{
    {"chinese", "zh"},
    {"dutch", "nl"},
    {"finnish", "fi"},
    {"french", "fr"},
    {"german", "de"},
    {"greek", "el"},
    {"hungarian", "hu"},
    {"japanese", "ja"},
    {"russian", "ru"},
    {"spanish", "es"},
}};

// Of the list's folder, or of DATA itself; empty: unknown.
std::string_view language_of(const DataTree& tree, std::string_view folder) {
  std::vector<std::string_view> names = data_names(tree);
  if (!folder.empty()) names = {file_name(folder)};
  for (const std::string_view name : names) {
    for (const auto& [known, code] : kLanguages) {
      if (equals_ignoring_case(name, known)) return code;
    }
  }
  return {};
}

struct Css10Line {
  std::string_view audio;
  std::string_view raw;
  std::string_view normalized;
  double seconds = 0.0;
};
// A text may hold '|': the first and the last two fields are known by their places.
std::optional<Css10Line> parse_line(std::string_view line) {
  const std::vector<std::string_view> fields = fields_of(line, '|');
  if (fields.size() != 4 || !audio_rank(file_extension(fields[0]))) return std::nullopt;
  Css10Line found{fields[0], fields[1], fields[2]};
  const char* const end = fields[3].data() + fields[3].size();
  const auto parsed = std::from_chars(fields[3].data(), end, found.seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return found;
}

class Css10Reader {
 public:
  explicit Css10Reader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (file_name(file.path) != kListName) return;
      sources_.push_back({std::string(file.path), std::string(folder_of(file.path)), std::nullopt});
    });
    if (sources_.empty()) return not_this_layout(input_, kListName);
    for (const ListSource& source : sources_) {
      XTTS_ASSIGN(ListText list, read_list(input_, source.list));
      const std::string_view language = language_of(input_.tree, folder_of(source.list));
      XTTS_TRY(read_lines(list, source, clips_,
                          [&](const ListText::Line& line) { read_line(source, language, line); }));
    }
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  void read_line(const ListSource& source, std::string_view language, const ListText::Line& line) {
    const std::string_view name = trimmed(line.text.substr(0, line.text.find('|')));
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, name, "the line " + *fault);
    }
    const auto parsed = parse_line(line.text);
    if (!parsed) {
      return clips_.refuse(source, line.number, name,
                           "the line is not PATH|text|normalized text|seconds");
    }
    const std::string id =
        join_path(folder_of(source.list), without_audio_extension(parsed->audio));
    ListedClip clip;
    clip.line = line.number;
    clip.audio = parsed->audio;
    clip.id = id;
    clip.text_raw = parsed->raw;
    clip.text_normalized = parsed->normalized;
    clip.language = language;
    clip.extra_json = formats::dump_canonical({{"duration", parsed->seconds}});
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

// A transcript.txt may be anybody's; one whose first line is of the form is not.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (file_name(path) != kListName) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  return parse_line(first_line(text)).has_value();
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FilesAsked::kNotAudio, "CSS10 transcripts", "css10",
                        [&](const MetFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "css10"));
  return Css10Reader(input).read();
}

}  // namespace
}  // namespace css10_layout

const Layout kCss10Layout = {"css10",
                             "transcript.txt (path|text|normalized text|seconds) beside its audio",
                             css10_layout::detect, css10_layout::read};

}  // namespace xtts::corpus
