// aishell3: {train,test}/content.txt, lines "NAME.wav<TAB>TEXT", with the audio in
// wav/SPEAKER/NAME beside the list. A name is its speaker and four digits. TEXT goes syllable by
// syllable, "广 guang3 州 zhou1": the characters are the normalized text, the pinyin is a further
// field. An unreadable list stops discovery.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace aishell3_layout {
namespace {

constexpr std::string_view kListName = "content.txt";
constexpr LineForm kForm = {"{train,test}/content.txt", "lines NAME.wav<TAB>TEXT", "\t"};
constexpr std::size_t kDigits = 4;

std::string audio_folder_of(std::string_view list) {
  return join_path(folder_of(list), "wav");
}

// "SSB0005" for "SSB00050001"; nullopt: not a speaker and four digits.
std::optional<std::string_view> speaker_of(std::string_view name) {
  if (name.size() <= kDigits || !is_number(name.substr(name.size() - kDigits))) return std::nullopt;
  return name.substr(0, name.size() - kDigits);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

struct Syllables {
  std::string characters;
  std::string pinyin;
};
// nullopt: characters and pinyin do not alternate.
std::optional<Syllables> parse_syllables(std::string_view text) {
  Syllables found;
  while (true) {
    const std::string_view character = take_word(text);
    if (character.empty()) break;
    const std::string_view pinyin = take_word(text);
    if (is_ascii(character) || pinyin.empty() || !is_ascii(pinyin)) return std::nullopt;
    found.characters += character;
    if (!found.pinyin.empty()) found.pinyin += ' ';
    found.pinyin += pinyin;
  }
  return found.characters.empty() ? std::nullopt : std::optional(std::move(found));
}

// Whether `text` begins with pinyin: "ni2 yi3 wei2".
bool is_pinyin(std::string_view text) {
  std::string_view word = take_word(text);
  if (word.empty()) return false;
  for (; !word.empty(); word = take_word(text)) {
    if (word.size() < 2 || word.back() < '1' || word.back() > '5') return false;
  }
  return true;
}

std::optional<std::string> add_line(const ListLine& line) {
  const auto tab = line.text.find('\t');
  if (tab == std::string_view::npos) return "the line has one field; expected NAME.wav<TAB>TEXT";
  const std::string_view id = file_stem(trimmed(line.text.substr(0, tab)));
  const auto speaker = speaker_of(id);
  if (!speaker || id.find('/') != std::string_view::npos) {
    return "the name is not that of a speaker and four digits";
  }
  const std::string audio = join_path(*speaker, id);
  ListedClip clip;
  clip.audio = audio;
  clip.id = id;
  clip.text_raw = trimmed(line.text.substr(tab + 1));
  clip.speaker = *speaker;
  const auto syllables = parse_syllables(clip.text_raw);
  if (syllables || is_pinyin(clip.text_raw)) clip.language = "zh";
  if (syllables) {
    clip.text_normalized = syllables->characters;
    clip.extra_json = formats::dump_canonical({{"pinyin", syllables->pinyin}});
  }
  line.add(clip);
  return std::nullopt;
}

// content.txt is a common name, so the first line must lead to a speaker's folder.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (file_name(path) != kListName || !has_walked_folder(input.tree, audio_folder_of(path)))
    return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  const std::string_view line = first_line(text);
  const auto tab = line.find('\t');
  if (tab == std::string_view::npos) return false;
  const auto speaker = speaker_of(file_stem(trimmed(line.substr(0, tab))));
  return speaker && has_walked_folder(input.tree, join_path(audio_folder_of(path), *speaker));
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, "AISHELL-3 transcripts",
                        [&](const WalkedFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  const auto sources =
      lists_found(input.tree, [&](const WalkedFile& file) -> std::optional<ListSource> {
        const std::string audio_folder = audio_folder_of(file.path);
        if (file_name(file.path) != kListName || !has_walked_folder(input.tree, audio_folder))
          return std::nullopt;
        const auto split = official_split(nearest_folders(input.tree, file.path).nearest);
        return ListSource{std::string(file.path), audio_folder, split};
      });
  return clips_of_lines(input, sources, kForm,
                        [](const OpenList&) -> Result<ReadLine> { return ReadLine(add_line); });
}

}  // namespace
}  // namespace aishell3_layout

extern const Layout kAishell3Layout = {
    "aishell3", "{train,test}/content.txt (name, tab, characters and pinyin) beside wav/SPEAKER/",
    aishell3_layout::detect, aishell3_layout::read};

}  // namespace xtts::corpus
