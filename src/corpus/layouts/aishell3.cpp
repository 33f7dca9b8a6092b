// aishell3: {train,test}/content.txt, lines "NAME.wav<TAB>TEXT", with the audio in wav/SPEAKER/NAME
// beside the list; a name is its speaker and four digits. TEXT goes syllable by syllable, "广
// guang3 州 zhou1": the characters are the normalized text, the pinyin a further field. A list that
// cannot be read stops discovery.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_files.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace aishell3_layout {
namespace {

constexpr std::string_view kListName = "content.txt";
constexpr std::string_view kExpected = "lines NAME.wav<TAB>TEXT";
constexpr std::size_t kDigits = 4;

std::string audio_folder_of(std::string_view list) {
  return join_path(folder_of(list), "wav");
}

// "SSB0005" of "SSB00050001"; nullopt: no speaker and four digits.
std::optional<std::string_view> speaker_of(std::string_view name) {
  if (name.size() <= kDigits || !is_number(name.substr(name.size() - kDigits))) return std::nullopt;
  return name.substr(0, name.size() - kDigits);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

// Takes the next word off `text`; empty after the last.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

struct Syllables {
  std::string characters;
  std::string pinyin;
};
// nullopt: not characters and pinyin in turn.
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

// "ni2 yi3 wei2"
bool is_pinyin(std::string_view text) {
  std::string_view word = take_word(text);
  if (word.empty()) return false;
  for (; !word.empty(); word = take_word(text)) {
    if (word.size() < 2 || word.back() < '1' || word.back() > '5') return false;
  }
  return true;
}

class Aishell3Reader {
 public:
  explicit Aishell3Reader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read() {
    find_lists();
    if (sources_.empty()) return not_this_layout(input_, "{train,test}/content.txt");
    for (const ListSource& source : sources_) {
      XTTS_ASSIGN(ListText list, read_list(input_, source.list));
      XTTS_TRY(read_lines(list, source, clips_,
                          [&](const ListText::Line& line) { read_line(source, line); }));
    }
    clips_.refuse_folders();
    return clips_.finish(sources_, kExpected);
  }

 private:
  void find_lists() {
    for_each_file(input_.tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
      if (file_name(file.path) != kListName) return;
      if (!met_folder(input_.tree, audio_folder_of(file.path))) return;
      const auto split = official_split(nearest_folders(input_.tree, file.path).nearest);
      sources_.push_back({std::string(file.path), audio_folder_of(file.path), split});
    });
  }

  void read_line(const ListSource& source, const ListText::Line& line) {
    const auto tab = line.text.find('\t');
    const std::string_view name = trimmed(line.text.substr(0, tab));
    if (const auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, name, "the line " + *fault);
    }
    if (tab == std::string_view::npos) {
      return clips_.refuse(source, line.number, {},
                           "the line has one field; expected NAME.wav<TAB>TEXT");
    }
    const std::string_view id = file_stem(name);
    const auto speaker = speaker_of(id);
    if (!speaker || id.find('/') != std::string_view::npos) {
      return clips_.refuse(source, line.number, name,
                           "the name is not that of a speaker and four digits");
    }
    const std::string audio = join_path(*speaker, id);
    ListedClip clip;
    clip.line = line.number;
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
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  std::vector<ListSource> sources_;  // complete before the first is read, so that they stay
  ListedClips clips_;
};

// A content.txt may be anybody's; one whose first line leads to a speaker's folder is not.
Result<bool> looks_like_list(const LayoutInput& input, std::string_view path) {
  if (file_name(path) != kListName || !met_folder(input.tree, audio_folder_of(path))) return false;
  XTTS_ASSIGN(const std::string text, beginning_of(input, path));
  const std::string_view line = first_line(text);
  const auto tab = line.find('\t');
  if (tab == std::string_view::npos) return false;
  const auto speaker = speaker_of(file_stem(trimmed(line.substr(0, tab))));
  return speaker && met_folder(input.tree, join_path(audio_folder_of(path), *speaker));
}

Detected detect(const LayoutInput& input) {
  return detect_by_file(input, FilesAsked::kNotAudio, "AISHELL-3 transcripts", "aishell3",
                        [&](const MetFile& file) { return looks_like_list(input, file.path); });
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "aishell3"));
  return Aishell3Reader(input).read();
}

}  // namespace
}  // namespace aishell3_layout

const Layout kAishell3Layout = {
    "aishell3", "{train,test}/content.txt (name, tab, characters and pinyin) beside wav/SPEAKER/",
    aishell3_layout::detect, aishell3_layout::read};

}  // namespace xtts::corpus
