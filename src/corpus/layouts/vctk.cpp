// vctk (0.80 and 0.92): wav48/p225/p225_001.wav or wav48_silence_trimmed/p225/p225_001_mic1.flac,
// with txt/p225/p225_001.txt and speaker-info.txt beside those folders. The first of two
// microphones is used, as in most published work; the second only where the first is missing.

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace vctk_layout {
namespace {

constexpr std::string_view kTextFolder = "txt";
constexpr std::string_view kTextSuffix = ".txt";
constexpr std::string_view kSpeakerInfo = "speaker-info.txt";
constexpr std::size_t kAgeDigitsMax = 3;

// The microphone of a recording; a lower value is preferred.
enum class VctkMicrophone : std::size_t { kOnly, kFirst, kSecond };
constexpr std::size_t kVctkMicrophoneCount = 3;

// BASE/FOLDER/SPEAKER/SPEAKER_NUMBER.
struct VctkPlace {
  std::string_view base;    // "" is DATA itself
  std::string_view folder;  // wav48, txt
  std::string_view speaker;
  std::string_view id;
};

// nullopt: the file is not named after its folder.
std::optional<VctkPlace> vctk_place(std::string_view path_without_extension) {
  VctkPlace place;
  std::string_view path = path_without_extension;
  place.id = take_last_name(path);
  place.speaker = take_last_name(path);
  place.folder = take_last_name(path);
  place.base = path;
  const bool is_named = !place.speaker.empty() && place.id.starts_with(place.speaker) &&
                        place.id.substr(place.speaker.size()).starts_with('_');
  return is_named ? std::optional(place) : std::nullopt;
}

struct VctkRecording {
  std::string_view path;  // without extension and microphone
  VctkPlace place;
  VctkMicrophone microphone = VctkMicrophone::kOnly;
};

// nullopt: not audio, or not in wav48 or wav48_silence_trimmed.
std::optional<VctkRecording> vctk_recording(const WalkedFile& file) {
  const std::string_view path = file.path;
  // Fast exit for nearly every file of other corpora.
  if (path.find("wav48") == std::string_view::npos) return std::nullopt;
  if (!is_audio(file)) return std::nullopt;
  VctkRecording found;
  found.path = stem_of_audio(file);
  if (found.path.ends_with("_mic1")) found.microphone = VctkMicrophone::kFirst;
  if (found.path.ends_with("_mic2")) found.microphone = VctkMicrophone::kSecond;
  if (found.microphone != VctkMicrophone::kOnly) {
    found.path.remove_suffix(std::string_view("_mic1").size());
  }
  const auto place = vctk_place(found.path);
  if (!place) return std::nullopt;
  if (place->folder != "wav48" && place->folder != "wav48_silence_trimmed") return std::nullopt;
  found.place = *place;
  return found;
}

// The facts after the ID. Words are recognised by their form, because columns may be empty.
nlohmann::json speaker_facts(std::string_view row) {
  nlohmann::json facts = nlohmann::json::object();
  std::string_view word = take_word(row);
  if (is_number(word) && word.size() <= kAgeDigitsMax) {
    facts["age"] = std::stoi(std::string(word));
    word = take_word(row);
  }
  if (word == "F" || word == "M") {
    facts["gender"] = std::string(word);
    word = take_word(row);
  }
  // Comments are in parentheses. Without age and gender, the row is a header or no row.
  if (!facts.empty() && !word.empty() && !word.starts_with('(')) {
    facts["accent"] = std::string(word);
  }
  return facts;
}

// VctkSpeakers: the facts of speaker-info.txt. It is a table for people, with columns ID, AGE,
// GENDER, ACCENTS, REGION and COMMENTS, and a row may lack some.
class VctkSpeakers {
 public:
  explicit VctkSpeakers(const LayoutInput& input) : input_(input) {}

  // Adds the speakers of the corpus in the file's folder. False, with a note: the file cannot be
  // read, and clips get no such facts.
  bool read(const WalkedFile& file, ClipCollector& clips) {
    auto list = read_list(input_, file.path);
    if (!list.ok()) {
      clips.note(formatted("{} is not used: {}", printable(file.path), list.status().message()));
      return false;
    }
    while (const auto line = list->next()) {
      if (!fault_of_text_bytes(line->text)) read_row(folder_of(file.path), line->text);
    }
    return true;
  }

  // The known facts: {"accent":"English","age":23,"gender":"F"}; empty: none.
  [[nodiscard]] std::string extra_of(std::string_view base, std::string_view speaker) const {
    const auto place = extras_.find(join_path(base, speaker));
    return place == extras_.end() ? std::string() : place->second;
  }

 private:
  void read_row(std::string_view base, std::string_view row) {
    const std::string_view id = take_word(row);
    const nlohmann::json facts = speaker_facts(row);
    if (facts.empty()) return;
    // Release 0.80 omits the p of p225.
    const std::string speaker = is_number(id) ? "p" + std::string(id) : std::string(id);
    extras_.emplace(join_path(base, speaker), formats::dump_canonical(facts));
  }

  const LayoutInput& input_;
  std::unordered_map<std::string, std::string> extras_;  // BASE/SPEAKER -> JSON
};

struct Utterance {
  VctkRecording recording;
  std::array<std::optional<WalkedFile>, kVctkMicrophoneCount> files;

  std::optional<WalkedFile>& of(VctkMicrophone microphone) {
    return files[static_cast<std::size_t>(microphone)];
  }
  // A found file has priority over a refused one, whose reason is reported.
  [[nodiscard]] VctkMicrophone chosen() const {
    for (const bool may_be_refused : {false, true}) {
      for (std::size_t i = 0; i < files.size(); ++i) {
        const bool may_be = files[i] && (may_be_refused || files[i]->file != nullptr);
        if (may_be) return static_cast<VctkMicrophone>(i);
      }
    }
    return VctkMicrophone::kOnly;
  }
};

struct Text {
  WalkedFile file;
  VctkPlace place;
  bool is_used = false;
};

class VctkReader {
 public:
  explicit VctkReader(const LayoutInput& input) : input_(input), speakers_(input), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FileFilter::kAll, [&](const WalkedFile& file) { sort_in(file); });
    if (utterances_.empty()) return not_this_layout(input_, "wav48*/SPEAKER/SPEAKER_NUMBER.*");
    for (Utterance& utterance : utterances_) read_utterance(utterance);
    for (const Text& text : texts_) tell_of_silent(text);
    add_notes();
    clips_.refuse_folders();
    return clips_.finish({}, "wav48/p225/p225_001.wav with txt/p225/p225_001.txt");
  }

 private:
  void sort_in(const WalkedFile& file) {
    if (file_name(file.path) == kSpeakerInfo) {
      if (speakers_.read(file, clips_)) clips_.count_read_file();
    } else if (const auto recording = vctk_recording(file)) {
      const auto [entry, is_new] = utterance_of_.try_emplace(recording->path, utterances_.size());
      if (is_new) utterances_.emplace_back().recording = *recording;
      auto& slot = utterances_[entry->second].of(recording->microphone);
      if (!slot) slot = file;
    } else if (file.path.ends_with(kTextSuffix)) {
      const std::string_view path = file.path.substr(0, file.path.size() - kTextSuffix.size());
      const auto place = vctk_place(path);
      if (!place || place->folder != kTextFolder) return;
      text_of_.emplace(path, texts_.size());
      texts_.push_back({file, *place});
    }
  }

  void read_utterance(Utterance& utterance) {
    const VctkRecording& recording = utterance.recording;
    const VctkMicrophone microphone = utterance.chosen();
    const WalkedFile& audio = *utterance.of(microphone);
    clips_.count_line();
    count_microphones(utterance, microphone);
    Transcript transcript;
    if (Text* text = find_text(recording.place)) {
      transcript = read_transcript(input_, text->file);
      if (const auto& fault = transcript.fault) {
        return clips_.refuse_file(text->file.path, recording.place.id, fault->reason, fault->kind);
      }
    }
    ListedClip clip;
    clip.file = audio.path;
    clip.audio = file_name(stem_of_audio(audio));
    clip.text_raw = clip.text_normalized = transcript.text;
    add(recording.place, folder_of(recording.path), clip);
  }

  void add(const VctkPlace& place, std::string_view audio_folder, ListedClip& clip) {
    clip.id = place.id;
    clip.speaker = place.speaker;
    clip.language = "en";
    clip.extra_json = speakers_.extra_of(place.base, place.speaker);
    clips_.add(source_of(place, audio_folder), clip);
  }

  void count_microphones(Utterance& utterance, VctkMicrophone chosen) {
    if (chosen == VctkMicrophone::kSecond) ++second_used_count_;
    const auto& second = utterance.of(VctkMicrophone::kSecond);
    if (chosen == VctkMicrophone::kSecond || !second || second->file == nullptr) return;
    clips_.pass_over(*second->file);
    ++second_unused_count_;
  }

  Text* find_text(const VctkPlace& place) {
    const std::string path =
        join_path(join_path(join_path(place.base, kTextFolder), place.speaker), place.id);
    const auto entry = text_of_.find(path);
    if (entry == text_of_.end()) return nullptr;
    Text& text = texts_[entry->second];
    if (!text.is_used && text.file.file != nullptr) clips_.count_read_file();
    text.is_used = true;
    return &text;
  }

  // Reports a transcript without a recording as a missing clip, like a line of a list. If the
  // speaker has no recording, it is only counted: many users keep a few speakers.
  void tell_of_silent(const Text& text) {
    if (text.is_used) return;
    const auto source = source_of_.find(join_path(text.place.base, text.place.speaker));
    if (source == source_of_.end()) {
      ++other_text_count_;
      return;
    }
    if (text.file.file != nullptr) clips_.count_read_file();
    clips_.count_line();
    ListedClip clip;
    clip.file = text.file.path;
    clip.audio = text.place.id;
    add(text.place, source->second->audio_folder, clip);
  }

  // Utterances come folder by folder, so checking the last source is enough.
  const ListSource& source_of(const VctkPlace& place, std::string_view audio_folder) {
    if (!sources_.empty() && sources_.back().audio_folder == audio_folder) return sources_.back();
    sources_.push_back({{}, std::string(audio_folder), std::nullopt});
    source_of_.emplace(join_path(place.base, place.speaker), &sources_.back());
    return sources_.back();
  }

  void add_notes() {
    const auto note_count = [&](std::uint64_t count, std::string_view one, std::string_view many) {
      if (count > 0) clips_.note(counted(count, one, many));
    };
    note_count(second_unused_count_, "recording of mic2 is not used: mic1 has the same utterance",
               "recordings of mic2 are not used: mic1 has the same utterances");
    note_count(second_used_count_, "utterance has no recording of mic1: that of mic2 is used",
               "utterances have no recording of mic1: those of mic2 are used");
    note_count(other_text_count_, "transcript is of a speaker without recordings",
               "transcripts are of speakers without recordings");
  }

  const LayoutInput& input_;
  VctkSpeakers speakers_;
  std::vector<Utterance> utterances_;
  std::unordered_map<std::string_view, std::size_t> utterance_of_;  // path -> its index
  std::vector<Text> texts_;
  std::unordered_map<std::string_view, std::size_t> text_of_;  // path without .txt -> its index
  std::deque<ListSource> sources_;
  std::unordered_map<std::string, const ListSource*> source_of_;  // BASE/SPEAKER -> the first
  ClipCollector clips_;
  std::uint64_t second_unused_count_ = 0;
  std::uint64_t second_used_count_ = 0;
  std::uint64_t other_text_count_ = 0;
};

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kAll, "VCTK recordings",
                        [](const WalkedFile& file) { return vctk_recording(file).has_value(); });
}

Result<Findings> read(const LayoutInput& input) {
  return VctkReader(input).read();
}

}  // namespace
}  // namespace vctk_layout

extern const Layout kVctkLayout = {"vctk", "wav48*/p225/p225_001*.* with txt/p225/p225_001.txt",
                                   vctk_layout::detect, vctk_layout::read};

}  // namespace xtts::corpus
