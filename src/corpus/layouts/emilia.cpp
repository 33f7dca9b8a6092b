// emilia: {EN,DE,...}/LANGUAGE_B00000.jsonl with lines {"id", "wav", "text", "duration",
// "speaker", "language", "dnsmos"}, "wav" relative to the list. Unpacked archives have one such
// object a clip instead, in NAME.json beside NAME.mp3. An unreadable .jsonl stops discovery; an
// unreadable .json costs its clip.

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {
namespace emilia_layout {
namespace {

using nlohmann::json;

constexpr std::string_view kExpected =
    "lines {\"id\": ..., \"wav\": ..., \"text\": ..., \"speaker\": ..., \"dnsmos\": ...}";

constexpr std::array<FieldNames, 5> kNames = {{
    {FieldRole::kId, {"id"}},
    {FieldRole::kAudio, {"wav"}},
    {FieldRole::kRaw, {"text"}},
    {FieldRole::kSpeaker, {"speaker"}},
    {FieldRole::kLanguage, {"language"}},
}};

bool is_row(const json& row) {
  for (const char* name : {"id", "wav", "text", "speaker"}) {
    const auto member = row.find(name);
    if (member == row.end() || !member->is_string()) return false;
  }
  return row.contains("dnsmos");
}

enum class EmiliaFile { kNone, kList, kClip };

EmiliaFile kind_of(std::string_view path) {
  std::string_view extension = file_extension(path);
  if (equals_ignoring_case(extension, "jsonl")) return EmiliaFile::kList;
  return equals_ignoring_case(extension, "json") ? EmiliaFile::kClip : EmiliaFile::kNone;
}

Result<bool> looks_like_emilia(const LayoutInput& input, std::string_view path) {
  if (kind_of(path) == EmiliaFile::kNone) return false;
  XTTS_ASSIGN(const std::string beginning, beginning_of(input, path));
  if (kind_of(path) == EmiliaFile::kList) return begins_with_object(beginning, is_row);
  const auto clip = parse_json_line(trimmed(beginning));
  return clip.ok() && is_row(*clip);
}

class EmiliaReader {
 public:
  explicit EmiliaReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    XTTS_TRY(find_lists());
    for (const ListSource& source : sources_) XTTS_TRY(read_list_file(source));
    // A tree has either lists or one file a clip.
    if (sources_.empty()) {
      const bool has_files =
          any_file(input_.tree, FileFilter::kNotAudio,
                   [](const WalkedFile& file) { return kind_of(file.path) == EmiliaFile::kClip; });
      if (!has_files) return not_this_layout(input_, "list of Emilia (*.jsonl), or NAME.json");
      for_each_file(input_.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
        if (kind_of(file.path) == EmiliaFile::kClip) read_clip_file(file);
      });
    }
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  Status find_lists() {
    Status failure;
    any_file(input_.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
      if (kind_of(file.path) != EmiliaFile::kList) return false;
      const auto is_list = looks_like_emilia(input_, file.path);
      if (!is_list.ok()) failure = is_list.status();
      if (is_list.ok() && *is_list) {
        sources_.push_back(
            {std::string(file.path), std::string(folder_of(file.path)), std::nullopt});
      }
      return !is_list.ok();
    });
    return failure;
  }

  Status read_list_file(const ListSource& source) {
    XTTS_ASSIGN(NamedRows rows, NamedRows::open(input_, source.list));
    return read_rows(rows, source, clips_, [&](std::uint64_t line, json fields) {
      const auto clip = read_row(std::move(fields), kNames);
      if (!clip.ok()) {
        clips_.refuse(source, line, {}, "the line " + clip.status().message());
      } else if (clip->audio.empty()) {
        clips_.refuse(source, line, clip->id, "the line names no audio");
      } else {
        add(source, *clip, line, {});
      }
      return Status();
    });
  }

  // The audio is the file of the same name; "wav" may name an old place.
  void read_clip_file(const WalkedFile& file) {
    const std::string_view stem = file_stem(file.path);
    const std::string path(
        file.path.substr(0, file.path.size() - file_extension(file.path).size() - 1));
    const Transcript text = read_transcript(input_, file);
    clips_.count_line();
    if (text.fault)
      return clips_.refuse_file(file.path, stem, text.fault->reason, text.fault->kind);
    auto fields = parse_json_line(on_one_line(text.text));
    if (!fields.ok() || !is_row(*fields)) {
      clips_.count_read_file();
      return clips_.refuse_file(file.path, stem, "is no JSON of a clip of Emilia");
    }
    auto clip = read_row(std::move(*fields), kNames);
    if (!clip.ok())
      return clips_.refuse_file(file.path, stem, "the file " + clip.status().message());
    clips_.count_read_file();
    clip->audio = path;
    add(whole_tree_, *clip, 0, file.path);
  }

  void add(const ListSource& source, const RowClip& row, std::uint64_t line,
           std::string_view file) {
    ListedClip clip = listed(row);
    clip.line = line;
    clip.file = file;
    clip.text_normalized = clip.text_raw;
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  std::vector<ListSource> sources_;  // complete before the first is read, so addresses stay
  const ListSource whole_tree_;
  ClipCollector clips_;
};

// A tree of clips has a .json for each; only the first in each folder is checked.
Detected detect(const LayoutInput& input) {
  std::string_view last_folder = "/";  // no folder has this name
  std::size_t looked_at = 0;
  return detect_by_file(input, FileFilter::kNotAudio, "Emilia transcripts",
                        [&](const WalkedFile& file) -> Result<bool> {
                          const EmiliaFile kind = kind_of(file.path);
                          if (kind == EmiliaFile::kNone) return false;
                          const bool is_new = folder_of(file.path) != last_folder;
                          if (kind == EmiliaFile::kClip && !is_new) return false;
                          if (kind == EmiliaFile::kClip) last_folder = folder_of(file.path);
                          if (++looked_at > kListCandidatesMax) return false;
                          return looks_like_emilia(input, file.path);
                        });
}

Result<Findings> read(const LayoutInput& input) {
  return EmiliaReader(input).read();
}

}  // namespace
}  // namespace emilia_layout

extern const Layout kEmiliaLayout = {
    "emilia", "Emilia: .jsonl lists, or NAME.json beside NAME.mp3, with wav, text, speaker, dnsmos",
    emilia_layout::detect, emilia_layout::read};

}  // namespace xtts::corpus
