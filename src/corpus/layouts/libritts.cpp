// libritts (and LibriTTS-R): SPEAKER/CHAPTER/ID.wav with ID.normalized.txt and ID.original.txt,
// under any folders. No list names the clips. An utterance has a transcript, or audio named after
// its folders (SPEAKER_CHAPTER_...). Other audio is noted as unused.

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/list_candidates.hpp"

namespace xtts::corpus {
namespace libritts_layout {
namespace {

constexpr std::string_view kOriginalSuffix = ".original.txt";
constexpr std::string_view kNormalizedSuffix = ".normalized.txt";

bool is_named_after_its_folders(const DataTree& tree, std::string_view path) {
  const NearestFolders folders = nearest_folders(tree, path);
  std::string beginning(folders.above);
  beginning += '_';
  beginning += folders.nearest;
  beginning += '_';
  return file_name(path).starts_with(beginning);
}

// The files of one id in one folder, each one found or refused.
struct Utterance {
  std::string_view path;  // without extensions
  std::optional<WalkedFile> audio;
  std::optional<WalkedFile> original;
  std::optional<WalkedFile> normalized;

  [[nodiscard]] std::string_view any_path() const {
    return audio ? audio->path : original ? original->path : normalized->path;
  }
};

class LibriTtsReader {
 public:
  explicit LibriTtsReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FileFilter::kAll, [&](const WalkedFile& file) { sort_in(file); });
    bool is_any = false;
    for (const Utterance& utterance : utterances_) is_any |= read_utterance(utterance);
    if (!is_any) return not_this_layout(input_, "SPEAKER/CHAPTER/SPEAKER_CHAPTER_*.wav");
    clips_.refuse_folders();
    return clips_.finish({}, "SPEAKER/CHAPTER/ID.wav with ID.normalized.txt");
  }

 private:
  void sort_in(const WalkedFile& file) {
    std::string_view path = file.path;
    if (path.ends_with(kNormalizedSuffix)) {
      path.remove_suffix(kNormalizedSuffix.size());
      utterance(path).normalized = file;
    } else if (path.ends_with(kOriginalSuffix)) {
      path.remove_suffix(kOriginalSuffix.size());
      utterance(path).original = file;
    } else if (is_audio(file)) {
      std::optional<WalkedFile>& audio = utterance(stem_of_audio(file)).audio;
      // A found file has priority over a refused one. The preferred format is chosen later.
      if (!audio) audio = file;
    }
  }

  Utterance& utterance(std::string_view path) {
    const auto [place, is_new] = places_.try_emplace(path, utterances_.size());
    if (is_new) utterances_.emplace_back().path = path;
    return utterances_[place->second];
  }

  // False: the utterance is not of this layout.
  bool read_utterance(const Utterance& utterance) {
    const bool has_text = utterance.original || utterance.normalized;
    if (!has_text && !is_named_after_its_folders(input_.tree, utterance.path)) return false;
    clips_.count_line();
    std::array<Transcript, 2> texts;
    const std::array<const std::optional<WalkedFile>*, 2> files = {&utterance.original,
                                                                   &utterance.normalized};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (!*files[i]) continue;
      const WalkedFile& file = **files[i];
      if (file.file != nullptr) clips_.count_read_file();
      // Without audio the text is not needed; add() reports the missing audio.
      if (!utterance.audio) continue;
      texts[i] = read_transcript(input_, file);
      if (const auto& fault = texts[i].fault) {
        clips_.refuse_file(file.path, file_name(utterance.path), fault->reason, fault->kind);
        return true;
      }
    }
    add(utterance, texts[0].text, texts[1].text);
    return true;
  }

  void add(const Utterance& utterance, std::string_view original, std::string_view normalized) {
    ListedClip clip;
    clip.file = utterance.any_path();
    clip.audio = file_name(utterance.path);
    clip.text_raw = original;
    clip.text_normalized = normalized;
    clip.speaker = nearest_folders(input_.tree, utterance.path).above;
    clip.language = "en";
    clips_.add(source_of(folder_of(utterance.path)), clip);
  }

  // Utterances come folder by folder, so checking the last source is enough.
  const ListSource& source_of(std::string_view folder) {
    if (sources_.empty() || sources_.back().audio_folder != folder) {
      sources_.push_back({{}, std::string(folder), libri_split(input_.tree, folder)});
    }
    return sources_.back();
  }

  const LayoutInput& input_;
  std::vector<Utterance> utterances_;
  std::unordered_map<std::string_view, std::size_t> places_;  // path -> index of the utterance
  std::deque<ListSource> sources_;
  ClipCollector clips_;
};

Detected detect(const LayoutInput& input) {
  return detect_by_file(
      input, FileFilter::kNotAudio, "LibriTTS transcripts", [&](const WalkedFile& file) {
        const bool is_text =
            file.path.ends_with(kNormalizedSuffix) || file.path.ends_with(kOriginalSuffix);
        return is_text && is_named_after_its_folders(input.tree, file.path);
      });
}

Result<Findings> read(const LayoutInput& input) {
  return LibriTtsReader(input).read();
}

}  // namespace
}  // namespace libritts_layout

extern const Layout kLibriTtsLayout = {
    "libritts", "SPEAKER/CHAPTER/ID.wav with ID.normalized.txt and ID.original.txt",
    libritts_layout::detect, libritts_layout::read};

}  // namespace xtts::corpus
