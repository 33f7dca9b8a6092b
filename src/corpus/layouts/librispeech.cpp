// librispeech: SPEAKER/CHAPTER/SPEAKER-CHAPTER.trans.txt, lines "UTTERANCE-ID TEXT", with the
// audio beside the list, under any folders. An unreadable list is a problem and costs one chapter
// of some thousands; a refused folder is a problem, too.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace librispeech_layout {
namespace {

constexpr std::string_view kListSuffix = ".trans.txt";

class LibriSpeechReader {
 public:
  explicit LibriSpeechReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    find_lists();
    if (sources_.empty()) return not_this_layout(input_, "SPEAKER-CHAPTER.trans.txt");
    for (const ListSource& source : sources_) XTTS_TRY(read_chapter(source));
    clips_.refuse_folders();
    return clips_.finish(sources_, "lines UTTERANCE-ID TEXT");
  }

 private:
  void find_lists() {
    for_each_file(input_.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
      if (!file.path.ends_with(kListSuffix)) return;
      if (file.refusal != nullptr) {
        return clips_.refuse_file(file.path, {}, file.refusal->reason, file.refusal->kind);
      }
      const std::string_view folder = folder_of(file.path);
      sources_.push_back(
          {std::string(file.path), std::string(folder), libri_split(input_.tree, folder)});
    });
  }

  Status read_chapter(const ListSource& source) {
    auto list = read_list(input_, source.list);
    if (!list.ok()) {
      const bool is_input = list.status().code() == StatusCode::kInvalidArgument;
      clips_.refuse_file(source.list, {}, list.status().message(),
                         is_input ? RejectClass::kInput : RejectClass::kEnvironment);
      return {};
    }
    const std::string_view speaker = nearest_folders(input_.tree, source.list).above;
    return read_lines({source, *list, clips_}, " \t",
                      [&](const ListLine& line) { return add_line(line, speaker); });
  }

  static std::optional<std::string> add_line(const ListLine& line, std::string_view speaker) {
    const std::string_view text = trimmed(line.text);
    const std::string_view id = text.substr(0, text.find_first_of(" \t"));
    // An id is a name, not a path: an absolute path or one with ".." is an error.
    if (auto fault = fault_of_listed_path(id)) return fault;
    ListedClip clip;
    clip.audio = id;
    clip.text_raw = clip.text_normalized = trimmed(text.substr(id.size()));
    clip.speaker = speaker;
    clip.language = "en";
    line.add(clip);
    return std::nullopt;
  }

  const LayoutInput& input_;
  std::vector<ListSource> sources_;  // complete before the first is read, so addresses stay
  ClipCollector clips_;
};

bool is_named_after_its_folders(const DataTree& tree, std::string_view path) {
  const NearestFolders folders = nearest_folders(tree, path);
  std::string name(folders.above);
  name += '-';
  name += folders.nearest;
  name += kListSuffix;
  return file_name(path) == name;
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "LibriSpeech transcripts",
                        [&](const WalkedFile& file) {
                          return file.path.ends_with(kListSuffix) &&
                                 is_named_after_its_folders(input.tree, file.path);
                        });
}

Result<Findings> read(const LayoutInput& input) {
  return LibriSpeechReader(input).read();
}

}  // namespace
}  // namespace librispeech_layout

extern const Layout kLibriSpeechLayout = {
    "librispeech", "SPEAKER/CHAPTER/SPEAKER-CHAPTER.trans.txt (id text) beside the audio",
    librispeech_layout::detect, librispeech_layout::read};

}  // namespace xtts::corpus
