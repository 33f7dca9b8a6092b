// esd (Emotional Speech Dataset): SPEAKER/SPEAKER.txt, lines "NAME<TAB>text<TAB>emotion", with the
// audio in SPEAKER/EMOTION/ or SPEAKER/EMOTION/{train,evaluation,test}/, which are the splits. The
// published lists use four encodings (UTF-8, UTF-16, GB2312, Windows-1252); each list is decoded
// by its own. An unreadable list is a problem of its speaker.

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/audio_index.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace esd_layout {
namespace {

constexpr std::string_view kExpected = "lines NAME<TAB>text<TAB>emotion";
constexpr std::size_t kSpeakerDigits = 4;
// A speaker's 1,750 lines have some 100 KB.
constexpr std::uint64_t kEsdListBytesMax = std::uint64_t{16} << 20U;

constexpr std::array<std::string_view, 5> kEmotions = {"Angry", "Happy", "Neutral", "Sad",
                                                       "Surprise"};

bool is_speaker(std::string_view name) {
  return name.size() == kSpeakerDigits && is_number(name);
}

// "0011" for "ESD/0011/0011.txt"; nullopt: not a speaker's list.
std::optional<std::string_view> speaker_of_list(const DataTree& tree, std::string_view path) {
  if (!equals_ignoring_case(file_extension(path), "txt")) return std::nullopt;
  const std::string_view speaker = file_stem(file_name(path));
  if (!is_speaker(speaker) || nearest_folders(tree, path).nearest != speaker) return std::nullopt;
  return speaker;
}

// Speakers 0001 to 0010 speak Chinese, the others English.
bool is_chinese(std::string_view speaker) {
  return speaker <= "0010";
}

// The encoding that a list was published in.
std::string_view published_in(std::string_view bytes, std::string_view speaker) {
  if (utf8_valid_bytes(bytes) == bytes.size()) return {};
  return is_chinese(speaker) ? "GB18030" : "WINDOWS-1252";
}

// The names of the folders between the speaker's folder and the file.
struct EsdFolders {
  std::string_view emotion;
  std::optional<Split> split;
};
EsdFolders folders_of(std::string_view speaker_folder, std::string_view path) {
  EsdFolders found;
  path.remove_prefix(speaker_folder.empty() ? 0 : speaker_folder.size() + 1);
  path = folder_of(path);
  while (!path.empty()) {
    const std::string_view name = take_last_name(path);
    if (name == "train") found.split = Split::kTrain;
    if (name == "evaluation") found.split = Split::kValidation;
    if (name == "test") found.split = Split::kTest;
    for (const std::string_view emotion : kEmotions) {
      if (equals_ignoring_case(name, emotion)) found.emotion = emotion;
    }
  }
  return found;
}

class EsdReader {
 public:
  explicit EsdReader(const LayoutInput& input) : input_(input), audio_(input.tree), clips_(input) {}

  Result<Findings> read() {
    for_each_file(input_.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
      if (!speaker_of_list(input_.tree, file.path)) return;
      sources_.push_back({std::string(file.path), "", std::nullopt});
    });
    if (sources_.empty()) return not_this_layout(input_, "SPEAKER/SPEAKER.txt");
    for (const ListSource& source : sources_) XTTS_TRY(read_speaker(source));
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  Status read_speaker(const ListSource& source) {
    const std::string_view speaker = *speaker_of_list(input_.tree, source.list);
    if (const Refusal* refusal = input_.tree.refusal_of(source.list)) {
      clips_.refuse_file(source.list, {}, refusal->reason, refusal->kind);
      return {};
    }
    const std::string path = input_.tree.full_path(source.list);
    auto bytes = read_text_file(input_.env, path, kEsdListBytesMax);
    if (!bytes.ok()) {
      clips_.refuse_file(source.list, {}, "cannot be read: " + bytes.status().message(),
                         RejectClass::kEnvironment);
      return {};
    }
    if (input_.log != nullptr) input_.log->paths.emplace(source.list);
    const std::string& named = input_.config.encoding;
    const std::string encoding(named.empty() ? published_in(*bytes, speaker) : named);
    auto text = as_utf8(std::move(*bytes), encoding);
    if (!text.ok()) return text.status();
    if (utf8_valid_bytes(*text) < text->size()) {
      clips_.refuse_file(source.list, {},
                         "is not UTF-8, UTF-16, or what its language was published in; save it as "
                         "UTF-8");
      return {};
    }
    XTTS_ASSIGN(LineReader list, LineReader::from_bytes(std::move(*text)));
    return read_lines({source, list, clips_}, "\t",
                      [&](const ListLine& line) { return add_line(line, speaker); });
  }

  std::optional<std::string> add_line(const ListLine& line, std::string_view speaker) {
    const std::vector<std::string_view> fields = fields_of(line.text, '\t');
    const std::string_view name = fields[0];
    if (fields.size() < 2) return "the line has one field; expected " + std::string(kExpected);
    const std::string_view folder = folder_of(line.list.source.list);
    const TreeFile* audio = audio_.find(folder, name);
    const EsdFolders folders = audio == nullptr ? EsdFolders() : folders_of(folder, audio->path);
    const std::string_view listed_emotion = fields.size() > 2 ? fields[2] : std::string_view();
    const std::string emotion(folders.emotion.empty() ? listed_emotion : folders.emotion);
    ListedClip clip;
    clip.audio = audio == nullptr ? name : std::string_view(audio->path);
    clip.id = name;
    clip.text_raw = fields[1];
    clip.text_normalized = fields[1];
    clip.speaker = speaker;
    clip.language = is_chinese(speaker) ? "zh" : "en";
    clip.split = folders.split;
    if (!emotion.empty()) clip.extra_json = formats::dump_canonical({{"emotion", emotion}});
    line.add(clip);
    return std::nullopt;
  }

  const LayoutInput& input_;
  NamedAudio audio_;
  std::vector<ListSource> sources_;  // complete before the first is read, so addresses stay
  ClipCollector clips_;
};

// A file 0011/0011.txt is not enough: a folder of an emotion must lie beside it.
bool looks_like_list(const LayoutInput& input, std::string_view path) {
  if (!speaker_of_list(input.tree, path)) return false;
  return std::any_of(kEmotions.begin(), kEmotions.end(), [&](std::string_view emotion) {
    return has_walked_folder(input.tree, join_path(folder_of(path), emotion));
  });
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "ESD transcripts",
                        [&](const WalkedFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  return EsdReader(input).read();
}

}  // namespace
}  // namespace esd_layout

extern const Layout kEsdLayout = {
    "esd", "SPEAKER/SPEAKER.txt (name, tab, text, tab, emotion) beside SPEAKER/EMOTION/",
    esd_layout::detect, esd_layout::read};

}  // namespace xtts::corpus
