// aishell1: transcript/aishell_transcript_v0.8.txt, lines "NAME 字 词 ...", with the audio in
// wav/{train,dev,test}/SPEAKER/NAME beside the list's folder. The words are the raw text. The
// characters without the spaces between them are the normalized text. An unreadable list stops
// discovery.

#include <optional>
#include <string>
#include <string_view>

#include "corpus/audio_index.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace aishell1_layout {
namespace {

constexpr std::string_view kListPrefix = "aishell_transcript";
constexpr LineForm kForm = {"transcript/aishell_transcript_v0.8.txt", "lines NAME text", " \t"};

// "data_aishell/wav" for "data_aishell/transcript/aishell_transcript_v0.8.txt".
std::string audio_folder_of(std::string_view list) {
  return join_path(folder_of(folder_of(list)), "wav");
}

bool is_list(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with(kListPrefix) && name.ends_with(".txt");
}

// Joins the characters; the space between ASCII words stays: "AI 是 什 么".
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

std::optional<std::string> add_line(const ListLine& line, const NamedAudio& audio_by_name) {
  const std::string_view text = trimmed(line.text);
  const auto space = text.find_first_of(" \t");
  if (space == std::string_view::npos) return "the line has a name and no text";
  const std::string_view name = text.substr(0, space);
  const std::string audio_folder = audio_folder_of(line.list.source.list);
  const TreeFile* audio = audio_by_name.find(audio_folder, name);
  const std::string listed = audio == nullptr ? join_path(audio_folder, name) : audio->path;
  const std::string_view speaker_folder = folder_of(listed);
  ListedClip clip;
  clip.audio = listed;
  clip.id = name;
  clip.text_raw = trimmed(text.substr(space));
  clip.text_normalized = without_spaces(clip.text_raw);
  clip.language = "zh";
  if (audio != nullptr && speaker_folder != audio_folder) {
    clip.speaker = file_name(speaker_folder);
    clip.split = official_split(file_name(folder_of(speaker_folder)));
  }
  line.add(clip);
  return std::nullopt;
}

// The published corpus packs the audio of each speaker; a note asks the user to unpack it.
void note_packed(const DataTree& tree, const OpenList& list) {
  const std::string audio_folder = audio_folder_of(list.source.list);
  std::uint64_t packed_count = 0;
  for_each_file(tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    if (folder_of(file.path) != audio_folder) return;
    packed_count += file.path.ends_with(".tar.gz") || file.path.ends_with(".tgz") ? 1 : 0;
  });
  if (packed_count == 0) return;
  list.clips.note(counted(packed_count, "archive of a speaker is", "archives of speakers are") +
                  " packed in " + folder_name(audio_folder) +
                  ": unpack them there (for f in *.tar.gz; do tar xf \"$f\"; done)");
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "AISHELL-1 transcripts",
                        [](const WalkedFile& file) { return is_list(file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  const auto sources = lists_found(input.tree, [](const WalkedFile& file) {
    return is_list(file.path) ? std::optional(ListSource{std::string(file.path), "", std::nullopt})
                              : std::nullopt;
  });
  const NamedAudio audio(input.tree);
  return clips_of_lines(input, sources, kForm, [&](const OpenList& list) -> Result<ReadLine> {
    note_packed(input.tree, list);
    return ReadLine([&](const ListLine& line) { return add_line(line, audio); });
  });
}

}  // namespace
}  // namespace aishell1_layout

extern const Layout kAishell1Layout = {
    "aishell1", "transcript/aishell_transcript_v0.8.txt beside wav/{train,dev,test}/SPEAKER/",
    aishell1_layout::detect, aishell1_layout::read};

}  // namespace xtts::corpus
