// kaldi: data folders of Kaldi: wav.scp ("RECORDING PATH") and, if present, segments ("UTTERANCE
// RECORDING START END"), text, utt2spk and utt2lang. Pipes in wav.scp are commands from the list's
// author: they are never run.

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/formatted.hpp"
#include "base/shared_text.hpp"
#include "base/try.hpp"
#include "corpus/clips/shared_labels.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/digest_hash.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_candidates.hpp"

namespace xtts::corpus {
namespace kaldi_layout {
namespace {

constexpr std::string_view kScript = "wav.scp";

// UtteranceFacts: one list about utterances (text, utt2spk or utt2lang), by utterance. It keeps
// the words and shares them with the clips.
class UtteranceFacts {
 public:
  // Texts are all different; names repeat.
  enum class Words : std::uint8_t { kTexts, kNames };
  explicit UtteranceFacts(Words words) : words_(words) {}

  // Reads `path`, once. Its broken lines become problems of `clips`.
  Status read(const LayoutInput& input, const std::string& path, ClipCollector& clips);

  // The list's words for an utterance; empty: there are none.
  [[nodiscard]] SharedText find(std::string_view utterance) const;
  // True where the line for this utterance was broken; it is already a problem.
  [[nodiscard]] bool is_broken(std::string_view utterance) const;
  // Marks an utterance as part of the corpus, good or bad.
  void expect(std::string_view utterance);
  // The number of utterances that were not expected.
  [[nodiscard]] std::uint64_t stray_count() const;
  // Memory without the words, which the clips count.
  [[nodiscard]] std::uint64_t held_bytes() const { return kFactBytes * facts_.size(); }

 private:
  struct Fact {
    SharedText words;
    std::uint32_t line = 0;
    bool is_broken = false;
    bool is_expected = false;
  };

  // The memory of one entry, with the overhead of its table.
  static constexpr std::uint64_t kFactBytes = sizeof(Digest) + sizeof(Fact) + 32;

  Words words_;
  ListSource source_;
  SharedLabels names_;
  std::unordered_map<Digest, Fact, DigestHash> facts_;  // by the digest of the utterance
};

Status UtteranceFacts::read(const LayoutInput& input, const std::string& path,
                            ClipCollector& clips) {
  if (!has_non_audio_file(input.tree, path)) return {};
  XTTS_ASSIGN(LineReader list, read_list(input, path));
  source_.list = path;
  clips.count_read_file();
  while (const auto line = next_key_line(list)) {
    const auto [place, is_new] = facts_.try_emplace(digest128(line->key));
    if (is_new) {
      clips.hold(kFactBytes);
      const std::string_view words = line->fault ? std::string_view() : line->words;
      place->second = {words_ == Words::kNames ? names_.of(words) : SharedText(words),
                       static_cast<std::uint32_t>(line->line), line->fault.has_value(), false};
    }
    if (line->fault) {
      clips.refuse(source_, line->line, line->key, "the line " + *line->fault);
    } else if (!is_new) {
      clips.refuse(
          source_, line->line, line->key,
          formatted("the same utterance is in line {}, which is used", place->second.line));
    }
    XTTS_TRY(clips.check_bounds(source_));
  }
  return {};
}

SharedText UtteranceFacts::find(std::string_view utterance) const {
  const auto place = facts_.find(digest128(utterance));
  return place == facts_.end() ? SharedText() : place->second.words;
}

bool UtteranceFacts::is_broken(std::string_view utterance) const {
  const auto place = facts_.find(digest128(utterance));
  return place != facts_.end() && place->second.is_broken;
}

void UtteranceFacts::expect(std::string_view utterance) {
  const auto place = facts_.find(digest128(utterance));
  if (place != facts_.end()) place->second.is_expected = true;
}

std::uint64_t UtteranceFacts::stray_count() const {
  const auto count = std::count_if(facts_.begin(), facts_.end(), [](const auto& fact) {
    return !fact.second.is_expected && !fact.second.is_broken;
  });
  return static_cast<std::uint64_t>(count);
}

// Kaldi uses folder names such as train_clean_5, dev_other, eval2000.
std::optional<Split> split_of_folder(const std::string& folder) {
  const std::string name = folded(file_name(folder));
  if (name.starts_with("train")) return Split::kTrain;
  if (name.starts_with("dev") || name.starts_with("val")) return Split::kValidation;
  if (name.starts_with("test") || name.starts_with("eval")) return Split::kTest;
  return std::nullopt;
}

// A data folder inside another is a part of it: data/train/split8/1.
bool is_within_another(const std::set<std::string, std::less<>>& folders, std::string_view folder) {
  while (!folder.empty()) {
    folder = folder_of(folder);
    if (folders.contains(folder)) return true;
  }
  return false;
}

// The folders with a wav.scp, found or refused, by name.
std::vector<std::string> data_folders(const DataTree& tree) {
  std::set<std::string, std::less<>> all;
  for (const TreeFile& file : tree.files) {
    if (!file.audio_rank && file_name(file.path) == kScript) all.emplace(folder_of(file.path));
  }
  for (const Refusal& refusal : tree.refusals) {
    if (file_name(refusal.path) == kScript) all.emplace(folder_of(refusal.path));
  }
  std::vector<std::string> outer;
  for (const std::string& folder : all) {
    if (!is_within_another(all, folder)) outer.push_back(folder);
  }
  return outer;
}

std::optional<double> seconds_of(std::string_view word) {
  double value = 0.0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::string> fault_of_source(std::string_view path) {
  if (path.empty()) return "the line has one field; expected RECORDING PATH";
  if (!path.ends_with('|') && !path.starts_with('|')) return std::nullopt;
  return "the recording is a pipe, and pipes are never run; name the file that the command reads "
         "(any audio format will do), or run the command yourself and name the file it makes";
}

struct Recording {
  std::string_view path;
  std::uint64_t line = 0;
  bool is_usable = false;
};
// The memory of one entry, with the overhead of its table.
constexpr std::uint64_t kKaldiRecordingBytes = sizeof(Recording) + 48;

class KaldiFolder {
 public:
  KaldiFolder(const LayoutInput& input, const ListSource& script, const ListSource& segments,
              ClipCollector& clips)
      : input_(input), script_(script), segments_(segments), clips_(clips) {}

  Status read() {
    const std::string& folder = script_.audio_folder;
    XTTS_TRY(texts_.read(input_, join_path(folder, "text"), clips_));
    XTTS_TRY(speakers_.read(input_, join_path(folder, "utt2spk"), clips_));
    XTTS_TRY(languages_.read(input_, join_path(folder, "utt2lang"), clips_));
    const bool has_segments = has_non_audio_file(input_.tree, segments_.list);
    XTTS_TRY(read_script(has_segments));
    if (has_segments) XTTS_TRY(read_segments());
    const std::uint64_t stray_count = texts_.stray_count();
    if (stray_count > 0) {
      clips_.note(formatted("{} of {}{} of utterances that do not exist",
                            counted(stray_count, "line", "lines"), join_path(folder, "text"),
                            stray_count == 1 ? " is" : " are"));
    }
    // The facts are freed with this folder.
    clips_.release(texts_.held_bytes() + speakers_.held_bytes() + languages_.held_bytes());
    return {};
  }

 private:
  void begin_utterance(std::string_view name) {
    clips_.count_line();
    texts_.expect(name);
  }

  // Without segments, each recording is an utterance.
  Status read_script(bool has_segments) {
    XTTS_ASSIGN(LineReader text, read_list(input_, script_.list));
    while (const auto line = next_key_line(text)) {
      if (!has_segments) begin_utterance(line->key);
      auto fault = line->fault ? "the line " + *line->fault : fault_of_source(line->words);
      // Without segments, no line needs a recording's path again.
      const std::string_view path =
          has_segments && !fault ? script_words_.keep(line->words) : line->words;
      const Recording recording{path, line->line, !fault};
      auto place = recordings_.find(line->key);
      const bool is_new = place == recordings_.end();
      if (is_new && has_segments) {
        const auto key = script_words_.keep(line->key.substr(0, kTextBytesMax));
        place = recordings_.emplace(key, recording).first;
        clips_.hold(kKaldiRecordingBytes + key.size() + path.size());
      }
      if (!fault && !is_new && has_segments) {
        fault = formatted("the same recording is in line {}, which is used", place->second.line);
      }
      if (fault) {
        clips_.refuse(script_, line->line, line->key, std::move(*fault));
      } else if (!has_segments) {
        add(script_, line->line, line->key, recording, std::nullopt);
      }
      XTTS_TRY(clips_.check_bounds(script_));
    }
    return {};
  }

  Status read_segments() {
    clips_.count_read_file();
    XTTS_ASSIGN(LineReader text, read_list(input_, segments_.list));
    while (const auto line = next_key_line(text)) {
      begin_utterance(line->key);
      if (auto fault = add_segment(*line)) {
        clips_.refuse(segments_, line->line, line->key, std::move(*fault));
      }
      XTTS_TRY(clips_.check_bounds(segments_));
    }
    return {};
  }

  std::optional<std::string> add_segment(const KeyLine& line) {
    if (line.fault) return "the line " + *line.fault;
    std::string_view words = line.words;
    const std::string_view name = take_word(words);
    const auto start_s = seconds_of(take_word(words));
    const auto end_s = seconds_of(take_word(words));
    if (!start_s || !end_s) return "the line is not UTTERANCE RECORDING START END";
    const auto place = recordings_.find(name);
    if (place == recordings_.end()) {
      return formatted("there is no recording {} in {}", printable(name), printable(script_.list));
    }
    const Recording& recording = place->second;
    if (!recording.is_usable) {
      return formatted("its recording cannot be used: line {} of {}", recording.line,
                       printable(script_.list));
    }
    Segment segment{*start_s, end_s};
    if (*end_s == -1.0) segment.end_s.reset();  // in Kaldi, -1 is the end of the recording
    add(segments_, line.line, line.key, recording, segment);
    return std::nullopt;
  }

  void add(const ListSource& source, std::uint64_t line, std::string_view utterance,
           const Recording& recording, std::optional<Segment> segment) {
    ListedClip clip;
    clip.line = line;
    clip.audio = recording.path;
    clip.id = utterance;
    clip.text_raw = texts_.find(utterance);
    const SharedText speaker = speakers_.find(utterance);
    const SharedText language = languages_.find(utterance);
    clip.speaker = speaker;
    clip.language = language;
    clip.segment = segment;
    // A broken text is already a problem. Its clip goes too: sound and text stay a pair.
    if (!texts_.is_broken(utterance)) clips_.add(source, clip);
  }

  const LayoutInput& input_;
  const ListSource& script_;
  const ListSource& segments_;
  ClipCollector& clips_;
  UtteranceFacts texts_{UtteranceFacts::Words::kTexts};
  UtteranceFacts speakers_{UtteranceFacts::Words::kNames};
  UtteranceFacts languages_{UtteranceFacts::Words::kNames};
  TextStore script_words_;
  std::unordered_map<std::string_view, Recording> recordings_;
};

ListSource list_in(const std::string& folder, std::string_view name, std::optional<Split> split) {
  return {join_path(folder, name), folder, split};
}

Detected detect(const LayoutInput& input) {
  const std::vector<std::string> folders = data_folders(input.tree);
  if (folders.empty()) return Detected(std::nullopt);
  if (folders.front().empty()) return Detected("wav.scp is in DATA");
  return Detected(formatted("{} below DATA, the first in {}/",
                            counted(folders.size(), "wav.scp is", "wav.scp are"),
                            printable(folders.front())));
}

Result<Findings> read(const LayoutInput& input) {
  const std::vector<std::string> folders = data_folders(input.tree);
  if (folders.empty()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("no wav.scp in {} or below; give the folder that holds it", input.tree.root));
  }
  std::vector<ListSource> scripts;
  std::vector<ListSource> segments;
  for (const std::string& folder : folders) {
    const auto split = folders.size() > 1 ? split_of_folder(folder) : std::nullopt;
    scripts.push_back(list_in(folder, kScript, split));
    segments.push_back(list_in(folder, "segments", split));
  }
  ClipCollector clips(input);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    XTTS_TRY(KaldiFolder(input, scripts[i], segments[i], clips).read());
  }
  return clips.finish(scripts, "lines RECORDING PATH");
}

}  // namespace
}  // namespace kaldi_layout

extern const Layout kKaldiLayout = {
    "kaldi", "Kaldi data folders: wav.scp with text, utt2spk, segments (pipes are never run)",
    kaldi_layout::detect, kaldi_layout::read};

}  // namespace xtts::corpus
