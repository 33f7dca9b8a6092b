// The published corpora of Chinese whose lists have a clip a line, as line_corpora.cpp has the
// others.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/layouts/line_corpus.hpp"
#include "corpus/lists/line_reader.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

// --- aishell1: transcript/aishell_transcript_v0.8.txt, wav/{train,dev,test}/SPEAKER/ ---

// The audio is in "data_aishell/wav" for "data_aishell/transcript/aishell_transcript_v0.8.txt".
Facts aishell1_list(const DataTree&, std::string_view list) {
  const std::string_view name = file_name(list);
  if (!name.starts_with("aishell_transcript") || !name.ends_with(".txt")) return std::nullopt;
  return ListFacts{.audio_folder = join_path(folder_of(folder_of(list)), "wav"), .language = "zh"};
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
    const bool is_ascii_gap = !joined.empty() && is_ascii({&joined.back(), 1}) &&
                              next != std::string_view::npos && is_ascii(text.substr(next, 1));
    if (is_ascii_gap && joined.back() != ' ') joined += ' ';
  }
  return joined;
}

NoClip aishell1_line(const CorpusLine& line) {
  const auto parts = name_and_text(trimmed(line.text()), " \t");
  if (!parts) return "the line has a name and no text";
  const TreeFile* audio = line.audio->find(line.list.audio_folder, parts->name);
  const std::string listed =
      audio == nullptr ? join_path(line.list.audio_folder, parts->name) : audio->path;
  const std::string_view speaker_folder = folder_of(listed);
  ListedClip clip;
  clip.audio = listed;
  clip.id = parts->name;
  clip.text_raw = parts->text;
  clip.text_normalized = without_spaces(parts->text);
  if (audio != nullptr && speaker_folder != line.list.audio_folder) {
    clip.speaker = file_name(speaker_folder);
    clip.split = official_split(file_name(folder_of(speaker_folder)));
  }
  return line.add(clip);
}

// The published corpus packs the audio of each speaker.
std::string note_on_packed(const DataTree& tree, const ListFacts& facts) {
  std::uint64_t packed_count = 0;
  for_each_file(tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    if (folder_of(file.path) != facts.audio_folder) return;
    packed_count += file.path.ends_with(".tar.gz") || file.path.ends_with(".tgz") ? 1 : 0;
  });
  if (packed_count == 0) return {};
  return formatted("{} packed in {}: unpack them there (for f in *.tar.gz; do tar xf \"$f\"; done)",
                   counted(packed_count, "archive of a speaker is", "archives of speakers are"),
                   folder_name(facts.audio_folder));
}

constexpr LineCorpus kAishell1 = {
    .name = "aishell1",
    .about = "transcript/aishell_transcript_v0.8.txt beside wav/{train,dev,test}/SPEAKER/",
    .lists = "AISHELL-1 transcripts",
    .form = {"transcript/aishell_transcript_v0.8.txt", "lines NAME text", " \t"},
    .facts_of = aishell1_list,
    .read = aishell1_line,
    .note_on = note_on_packed,
    .looks_for_names = true,
};

// --- aishell3: {train,test}/content.txt, TEXT syllable by syllable: "广 guang3 州 zhou1" ---

Facts aishell3_list(const DataTree& tree, std::string_view list) {
  const std::string audio_folder = join_path(folder_of(list), "wav");
  if (file_name(list) != "content.txt" || !has_walked_folder(tree, audio_folder))
    return std::nullopt;
  return ListFacts{.audio_folder = audio_folder,
                   .split = official_split(nearest_folders(tree, list).nearest)};
}

// "SSB0005" for "SSB00050001"; nullopt: not a speaker and four digits.
std::optional<std::string_view> aishell3_speaker(std::string_view name) {
  constexpr std::size_t kDigits = 4;
  if (name.size() <= kDigits || !is_number(name.substr(name.size() - kDigits))) return std::nullopt;
  return name.substr(0, name.size() - kDigits);
}

// content.txt is a common name, so the first line must lead to a speaker's folder.
Result<bool> looks_like_aishell3(const LayoutInput& input, std::string_view list,
                                 const ListFacts& facts) {
  XTTS_ASSIGN(const std::string line, first_line_of(input, list));
  const auto parts = name_and_text(line, "\t");
  const auto speaker = aishell3_speaker(file_stem(parts ? parts->name : std::string_view()));
  return speaker && has_walked_folder(input.tree, join_path(facts.audio_folder, *speaker));
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

// True where `text` begins with pinyin: "ni2 yi3 wei2".
bool is_pinyin(std::string_view text) {
  std::string_view word = take_word(text);
  if (word.empty()) return false;
  for (; !word.empty(); word = take_word(text)) {
    if (word.size() < 2 || word.back() < '1' || word.back() > '5') return false;
  }
  return true;
}

NoClip aishell3_line(const CorpusLine& line) {
  const auto parts = name_and_text(line.text(), "\t");
  if (!parts) return "the line has one field; expected NAME.wav<TAB>TEXT";
  const std::string_view id = file_stem(parts->name);
  const auto speaker = aishell3_speaker(id);
  if (!speaker || id.find('/') != std::string_view::npos)
    return "the name is not that of a speaker and four digits";
  const std::string audio = join_path(*speaker, id);
  ListedClip clip;
  clip.audio = audio;
  clip.id = id;
  clip.text_raw = parts->text;
  clip.speaker = *speaker;
  const auto syllables = parse_syllables(clip.text_raw);
  if (syllables || is_pinyin(clip.text_raw)) clip.language = "zh";
  if (syllables) {
    clip.text_normalized = syllables->characters;
    clip.extra_json = formats::dump_canonical({{"pinyin", syllables->pinyin}});
  }
  return line.add(clip);
}

constexpr LineCorpus kAishell3 = {
    .name = "aishell3",
    .about = "{train,test}/content.txt (name, tab, characters and pinyin) beside wav/SPEAKER/",
    .lists = "AISHELL-3 transcripts",
    .form = {"{train,test}/content.txt", "lines NAME.wav<TAB>TEXT", "\t"},
    .facts_of = aishell3_list,
    .read = aishell3_line,
    .looks_so = looks_like_aishell3,
};

// --- esd: SPEAKER/SPEAKER.txt, SPEAKER/EMOTION/{train,evaluation,test}/ ---

constexpr std::array<std::string_view, 5> kEmotions = {"Angry", "Happy", "Neutral", "Sad",
                                                       "Surprise"};

Facts esd_list(const DataTree& tree, std::string_view list) {
  constexpr std::size_t kSpeakerDigits = 4;
  if (!equals_ignoring_case(file_extension(list), "txt")) return std::nullopt;
  const std::string_view speaker = file_stem(file_name(list));
  if (speaker.size() != kSpeakerDigits || !is_number(speaker) ||
      nearest_folders(tree, list).nearest != speaker)
    return std::nullopt;
  // Speakers 0001 to 0010 speak Chinese, the others English.
  return ListFacts{.speaker = std::string(speaker), .language = speaker <= "0010" ? "zh" : "en"};
}

// A file 0011/0011.txt is not enough: a folder of an emotion must lie beside it.
Result<bool> looks_like_esd(const LayoutInput& input, std::string_view list, const ListFacts&) {
  return std::ranges::any_of(kEmotions, [&](std::string_view emotion) {
    return has_walked_folder(input.tree, join_path(folder_of(list), emotion));
  });
}

std::string_view esd_encoding(std::string_view bytes, const ListFacts& facts) {
  if (utf8_valid_bytes(bytes) == bytes.size()) return {};
  return facts.language == "zh" ? "GB18030" : "WINDOWS-1252";
}

NoClip esd_line(const CorpusLine& line) {
  const std::vector<std::string_view> fields = fields_of(line.text(), '\t');
  if (fields.size() < 2) return "the line has one field; expected NAME<TAB>text<TAB>emotion";
  const std::string_view folder = folder_of(line.list_path());
  const TreeFile* audio = line.audio->find(folder, fields[0]);
  std::string emotion(fields.size() > 2 ? fields[2] : std::string_view());
  ListedClip clip;
  clip.audio = audio == nullptr ? fields[0] : std::string_view(audio->path);
  clip.id = fields[0];
  clip.text_raw = clip.text_normalized = fields[1];
  // The folders between the speaker's and the audio tell emotion and split.
  std::string_view inside = audio == nullptr ? std::string_view() : folder_of(clip.audio);
  while (inside.size() > folder.size()) {
    const std::string_view name = take_last_name(inside);
    clip.split = name == "evaluation"                ? Split::kValidation
                 : name == "train" || name == "test" ? official_split(name)
                                                     : clip.split;
    for (const std::string_view known : kEmotions) {
      if (equals_ignoring_case(name, known)) emotion = known;
    }
  }
  if (!emotion.empty()) clip.extra_json = formats::dump_canonical({{"emotion", emotion}});
  return line.add(clip);
}

constexpr LineCorpus kEsd = {
    .name = "esd",
    .about = "SPEAKER/SPEAKER.txt (name, tab, text, tab, emotion) beside SPEAKER/EMOTION/",
    .lists = "ESD transcripts",
    .form = {"SPEAKER/SPEAKER.txt", "lines NAME<TAB>text<TAB>emotion", "\t"},
    .facts_of = esd_list,
    .read = esd_line,
    .looks_so = looks_like_esd,
    .published_in = esd_encoding,
    .looks_for_names = true,
    .unread = UnreadList::kIsProblem,
};

}  // namespace

extern const Layout kAishell1Layout = layout_of_lines<kAishell1>();
extern const Layout kAishell3Layout = layout_of_lines<kAishell3>();
extern const Layout kEsdLayout = layout_of_lines<kEsd>();

}  // namespace xtts::corpus
