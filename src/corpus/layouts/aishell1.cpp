// aishell1: transcript/aishell_transcript_v0.8.txt, lines "NAME 字 词 ...", with the audio in
// wav/{train,dev,test}/SPEAKER/NAME beside the folder of the list. The words are the raw text, the
// characters without the spaces between them the normalized one. The list that cannot be read stops
// discovery.

#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/named_audio.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace aishell1_layout {
namespace {

constexpr std::string_view kListPrefix = "aishell_transcript";
constexpr std::string_view kExpected = "lines NAME text";

// "data_aishell/wav" of "data_aishell/transcript/aishell_transcript_v0.8.txt".
std::string audio_folder_of(std::string_view list) {
  return join_path(folder_of(folder_of(list)), "wav");
}

bool is_list(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with(kListPrefix) && name.ends_with(".txt");
}

// Between ASCII words the space stays: "AI 是 什 么".
std::string without_spaces(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_space = text[i] == ' ' || text[i] == '\t';
    if (!is_space) {
      joined += text[i];
      continue;
    }
    const auto next = text.find_first_not_of(" \t", i);
    const bool is_ascii_gap =
        !joined.empty() && static_cast<unsigned char>(joined.back()) < 0x80U &&
        next != std::string_view::npos && static_cast<unsigned char>(text[next]) < 0x80U;
    if (is_ascii_gap && joined.back() != ' ') joined += ' ';
  }
  return joined;
}

class Aishell1Reader {
 public:
  explicit Aishell1Reader(const LayoutInput& input)
      : input_(input), audio_(input.tree), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (!is_list(file.path)) return;
      sources_.push_back({std::string(file.path), "", std::nullopt});
    });
    if (sources_.empty()) return not_this_layout(input_, "transcript/aishell_transcript_v0.8.txt");
    for (const ListSource& source : sources_) {
      XTTS_ASSIGN(ListText list, read_list(input_, source.list));
      XTTS_TRY(read_lines(list, source, clips_,
                          [&](const ListText::Line& line) { read_line(source, line); }));
      note_packed(source);
    }
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  void read_line(const ListSource& source, const ListText::Line& line) {
    const std::string_view text = trimmed(line.text);
    const auto space = text.find_first_of(" \t");
    const std::string_view name = text.substr(0, space);
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, name, "the line " + *fault);
    }
    if (space == std::string_view::npos) {
      return clips_.refuse(source, line.number, name, "the line has a name and no text");
    }
    const std::string audio_folder = audio_folder_of(source.list);
    const TreeFile* audio = audio_.find(audio_folder, name);
    const std::string listed = audio == nullptr ? join_path(audio_folder, name) : audio->path;
    const std::string characters = without_spaces(trimmed(text.substr(space)));
    const std::string_view speaker_folder = folder_of(listed);
    ListedClip clip;
    clip.line = line.number;
    clip.audio = listed;
    clip.id = name;
    clip.text_raw = trimmed(text.substr(space));
    clip.text_normalized = characters;
    clip.language = "zh";
    if (audio != nullptr && speaker_folder != audio_folder) {
      clip.speaker = file_name(speaker_folder);
      clip.split = official_split(file_name(folder_of(speaker_folder)));
    }
    clips_.add(source, clip);
  }

  // As it is published, the audio of each speaker is packed in the folder of audio.
  void note_packed(const ListSource& source) {
    const std::string audio_folder = audio_folder_of(source.list);
    std::uint64_t packed_count = 0;
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (folder_of(file.path) != audio_folder) return;
      packed_count += file.path.ends_with(".tar.gz") || file.path.ends_with(".tgz") ? 1 : 0;
    });
    if (packed_count == 0) return;
    clips_.note(counted(packed_count, "archive of a speaker is", "archives of speakers are") +
                " packed in " + folder_name(audio_folder) +
                ": unpack them there (for f in *.tar.gz; do tar xf \"$f\"; done)");
  }

  const LayoutInput& input_;
  NamedAudio audio_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FilesAsked::kNotAudio, "AISHELL-1 transcripts", "aishell1",
                        [](const MetFile& file) { return is_list(file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "aishell1"));
  return Aishell1Reader(input).read();
}

}  // namespace
}  // namespace aishell1_layout

const Layout kAishell1Layout = {
    "aishell1", "transcript/aishell_transcript_v0.8.txt beside wav/{train,dev,test}/SPEAKER/",
    aishell1_layout::detect, aishell1_layout::read};

}  // namespace xtts::corpus
