// The published corpora whose lists have a clip a line: what each makes of a list's path and of a
// line, then its row. src/corpus/README.md describes their forms.

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/layouts/line_corpus.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/pipe_columns.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace {

bool are_letters(std::string_view word, char first, char last) {
  return std::ranges::all_of(word, [&](char c) { return c >= first && c <= last; });
}

// --- librispeech: SPEAKER/CHAPTER/SPEAKER-CHAPTER.trans.txt ---

constexpr std::string_view kChapterSuffix = ".trans.txt";

Facts librispeech_list(const DataTree& tree, std::string_view list) {
  if (!list.ends_with(kChapterSuffix)) return std::nullopt;
  return ListFacts{.audio_folder = std::string(folder_of(list)),
                   .split = libri_split(tree, folder_of(list)),
                   .speaker = std::string(nearest_folders(tree, list).above),
                   .language = "en"};
}

Result<bool> looks_like_librispeech(const LayoutInput& input, std::string_view list,
                                    const ListFacts& facts) {
  const std::string_view chapter = nearest_folders(input.tree, list).nearest;
  return file_name(list) == formatted("{}-{}{}", facts.speaker, chapter, kChapterSuffix);
}

NoClip librispeech_line(const CorpusLine& line) {
  const std::string_view text = trimmed(line.text());
  const std::string_view id = text.substr(0, text.find_first_of(" \t"));
  // An id is a name, not a path: an absolute path or one with ".." is an error.
  if (auto fault = fault_of_listed_path(id)) return fault;
  ListedClip clip;
  clip.audio = id;
  clip.text_raw = clip.text_normalized = trimmed(text.substr(id.size()));
  return line.add(clip);
}

constexpr LineCorpus kLibriSpeech = {
    .name = "librispeech",
    .about = "SPEAKER/CHAPTER/SPEAKER-CHAPTER.trans.txt (id text) beside the audio",
    .lists = "LibriSpeech transcripts",
    .form = {"SPEAKER-CHAPTER.trans.txt", "lines UTTERANCE-ID TEXT", " \t"},
    .facts_of = librispeech_list,
    .read = librispeech_line,
    .looks_so = looks_like_librispeech,
    .unread = UnreadList::kIsProblem,
};

// --- mls: {train,dev,test}/transcripts.txt ---

// "de" for "mls_german" and "mls_german_opus"; empty: another form.
std::string_view mls_language(std::string_view folder) {
  constexpr std::string_view kPrefix = "mls_";
  if (!folder.starts_with(kPrefix)) return {};
  folder.remove_prefix(kPrefix.size());
  return language_named(folder.substr(0, folder.find('_')));
}

Facts mls_list(const DataTree& tree, std::string_view list) {
  const auto split = official_split(nearest_folders(tree, list).nearest);
  if (file_name(list) != "transcripts.txt" || !split) return std::nullopt;
  return ListFacts{
      .audio_folder = join_path(folder_of(list), "audio"),
      .split = split,
      .language = std::string(language_by_folders(tree, folder_of(list), mls_language))};
}

struct MlsId {
  std::string_view speaker;
  std::string_view book;
};
// nullopt: not of the form SPEAKER_BOOK_NUMBER.
std::optional<MlsId> parse_mls_id(std::string_view id) {
  const std::vector<std::string_view> parts = fields_of(id, '_');
  if (parts.size() != 3 || !std::ranges::all_of(parts, is_number)) return std::nullopt;
  return MlsId{parts[0], parts[1]};
}

// These names of list and folder are common, so the first id must have the form.
Result<bool> looks_like_mls(const LayoutInput& input, std::string_view list,
                            const ListFacts& facts) {
  if (!has_walked_folder(input.tree, facts.audio_folder)) return false;
  XTTS_ASSIGN(const std::string line, first_line_of(input, list));
  return parse_mls_id(line.substr(0, line.find('\t'))).has_value();
}

NoClip mls_line(const CorpusLine& line) {
  const auto parts = name_and_text(line.text(), "\t");
  if (!parts) return "the line has one field; expected ID<TAB>TEXT";
  const auto id = parse_mls_id(parts->name);
  if (!id) return "the id is not SPEAKER_BOOK_NUMBER";
  const std::string audio = join_path(join_path(id->speaker, id->book), parts->name);
  ListedClip clip;
  clip.audio = audio;
  clip.id = parts->name;
  clip.text_raw = clip.text_normalized = parts->text;
  clip.speaker = id->speaker;
  return line.add(clip);
}

constexpr LineCorpus kMls = {
    .name = "mls",
    .about = "{train,dev,test}/transcripts.txt (id, tab, text) beside audio/SPEAKER/BOOK/",
    .lists = "MLS transcripts",
    .form = {"{train,dev,test}/transcripts.txt", "lines ID<TAB>TEXT", "\t"},
    .facts_of = mls_list,
    .read = mls_line,
    .looks_so = looks_like_mls,
};

// --- css10: transcript.txt; each language has one reader, whose name the corpus does not give ---

// The language is the name of the list's folder, or of DATA.
Facts css10_list(const DataTree& tree, std::string_view list) {
  if (file_name(list) != "transcript.txt") return std::nullopt;
  const std::string_view folder = folder_of(list);
  ListFacts facts{.audio_folder = std::string(folder)};
  std::vector<std::string_view> names = data_names(tree);
  if (!folder.empty()) names = {file_name(folder)};
  for (const std::string_view name : names) {
    if (facts.language.empty()) facts.language = language_named(name);
  }
  return facts;
}

struct Css10Line {
  std::string_view audio;
  std::string_view raw;
  std::string_view normalized;
  double seconds = 0.0;
};
// nullopt: not four fields, the first an audio file and the last a number. A text with '|' in it
// makes five fields.
std::optional<Css10Line> parse_css10(std::string_view line) {
  const std::vector<std::string_view> fields = fields_of(line, '|');
  if (fields.size() != 4 || !audio_rank(file_extension(fields[0]))) return std::nullopt;
  Css10Line found{fields[0], fields[1], fields[2]};
  const char* const end = fields[3].data() + fields[3].size();
  const auto parsed = std::from_chars(fields[3].data(), end, found.seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return found;
}

// transcript.txt is a common name, so the first line must have the form.
Result<bool> looks_like_css10(const LayoutInput& input, std::string_view list, const ListFacts&) {
  XTTS_ASSIGN(const std::string line, first_line_of(input, list));
  return parse_css10(line).has_value();
}

NoClip css10_line(const CorpusLine& line) {
  const auto parsed = parse_css10(line.text());
  if (!parsed) return "the line is not PATH|text|normalized text|seconds";
  const std::string id = join_path(line.list.audio_folder, without_audio_extension(parsed->audio));
  ListedClip clip;
  clip.audio = parsed->audio;
  clip.id = id;
  clip.text_raw = parsed->raw;
  clip.text_normalized = parsed->normalized;
  clip.extra_json = formats::dump_canonical({{"duration", parsed->seconds}});
  return line.add(clip);
}

constexpr LineCorpus kCss10 = {
    .name = "css10",
    .about = "transcript.txt (path|text|normalized text|seconds) beside its audio",
    .lists = "CSS10 transcripts",
    .form = {"transcript.txt", "lines PATH|text|normalized text|seconds", "|"},
    .facts_of = css10_list,
    .read = css10_line,
    .looks_so = looks_like_css10,
};

// --- openslr: line_index*.tsv of Google's corpora, without a header ---

Facts openslr_list(const DataTree&, std::string_view list) {
  const std::string_view name = file_name(list);
  if (!name.starts_with("line_index") || !equals_ignoring_case(file_extension(name), "tsv"))
    return std::nullopt;
  return ListFacts{};
}

// "mlf_00081" for "mlf_00081_00000123456": a voice and the person's number. Empty: another form.
std::string_view openslr_speaker(std::string_view name) {
  const std::vector<std::string_view> parts = fields_of(name, '_');
  const bool is_form = parts.size() == 3 && are_letters(parts[0], 'a', 'z') &&
                       is_number(parts[1]) && is_number(parts[2]);
  return is_form ? name.substr(0, name.rfind('_')) : std::string_view();
}

// "ml" for a folder ml_in_female or ml_in; empty: another form.
std::string_view openslr_language(std::string_view folder) {
  const bool is_form =
      folder.size() >= 5 && folder[2] == '_' && are_letters(folder.substr(0, 2), 'a', 'z') &&
      are_letters(folder.substr(3, 2), 'a', 'z') && (folder.size() == 5 || folder[5] == '_');
  return is_form ? folder.substr(0, 2) : std::string_view();
}

// The fields between the name and the text; the lists give them no names.
std::string further_fields(const std::vector<std::string_view>& fields) {
  nlohmann::json further = nlohmann::json::object();
  for (std::size_t i = 1; i + 1 < fields.size(); ++i) {
    if (!fields[i].empty()) further[formatted("column_{}", i + 1)] = std::string(fields[i]);
  }
  return further.empty() ? std::string() : formats::dump_canonical(further);
}

NoClip openslr_line(const CorpusLine& line) {
  const std::vector<std::string_view> fields = fields_of(line.text(), '\t');
  if (fields.size() < 2) return "the line has one field; expected lines NAME<TAB>text";
  const std::string_view name = without_audio_extension(fields.front());
  const std::string_view folder = folder_of(line.list_path());
  const TreeFile* audio = line.audio->find(folder, file_name(name));
  // Neighbouring lists may name the same file.
  const std::string listed = audio == nullptr ? join_path(folder, name) : audio->path;
  ListedClip clip;
  clip.audio = listed;
  clip.id = name;
  clip.text_raw = clip.text_normalized = fields.back();
  clip.speaker = openslr_speaker(name);
  clip.language = language_by_folders(line.tree, folder_of(listed), openslr_language);
  clip.extra_json = further_fields(fields);
  return line.add(clip);
}

constexpr LineCorpus kOpenslr = {
    .name = "openslr",
    .about = "line_index.tsv (name, tab, text) with its audio beside or in folders below",
    .lists = "OpenSLR lists",
    .form = {"line_index.tsv", "lines NAME<TAB>text", "\t"},
    .facts_of = openslr_list,
    .read = openslr_line,
    .looks_for_names = true,
};

// --- mailabs: LANGUAGE/by_book/{female,male}/SPEAKER/BOOK/metadata.csv, or by_book/mix/BOOK ---

// "de" for "de_DE".
std::string_view mailabs_language(std::string_view folder) {
  const bool is_form = folder.size() == 5 && folder[2] == '_' &&
                       are_letters(folder.substr(0, 2), 'a', 'z') &&
                       are_letters(folder.substr(3), 'A', 'Z');
  return is_form ? folder.substr(0, 2) : std::string_view();
}

// DATA itself may be a folder below by_book. Names are unique in a book alone. The corpus does not
// give the speakers of "mix" books.
Facts mailabs_list(const DataTree& tree, std::string_view list) {
  if (file_name(list) != "metadata.csv") return std::nullopt;
  const std::string whole = join_path(tree.real_root, folder_of(list));
  std::string_view rest = whole;
  const auto take_name = [&rest] {
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    return name;
  };
  ListFacts facts{.audio_folder = join_path(folder_of(list), "wavs")};
  for (std::string_view name; !rest.empty() && name != "by_book";) {
    name = take_name();
    if (const auto found = mailabs_language(name); !found.empty()) facts.language = found;
  }
  const std::string_view gender = take_name();
  const bool is_person = gender == "female" || gender == "male";
  const bool is_complete =
      is_person ? rest.find('/') != std::string_view::npos : gender == "mix" && !rest.empty();
  if (!is_complete) return std::nullopt;
  if (is_person) facts.speaker = rest.substr(0, rest.find('/'));
  facts.id_folder = rest;
  facts.extra_json = formats::dump_canonical(
      {{"gender", std::string(gender)}, {"book", std::string(file_name(rest))}});
  return facts;
}

NoClip mailabs_line(const CorpusLine& line) {
  const auto row = PipeColumns().split(line.text());
  if (!row.ok()) return "the line " + row.status().message();
  const std::string id = join_path(line.list.id_folder, without_audio_extension(row->id));
  ListedClip clip = listed(*row);
  clip.id = id;
  return line.add(clip);
}

constexpr LineCorpus kMailabs = {
    .name = "mailabs",
    .about = "by_book/{female,male}/SPEAKER/BOOK/metadata.csv beside wavs/",
    .lists = "M-AILABS lists",
    .form = {"by_book/{female,male}/SPEAKER/BOOK/metadata.csv",
             "lines NAME|text|normalized text",
             {}},
    .facts_of = mailabs_list,
    .read = mailabs_line,
};

}  // namespace

extern const Layout kLibriSpeechLayout = layout_of_lines<kLibriSpeech>();
extern const Layout kMlsLayout = layout_of_lines<kMls>();
extern const Layout kCss10Layout = layout_of_lines<kCss10>();
extern const Layout kOpenslrLayout = layout_of_lines<kOpenslr>();
extern const Layout kMailabsLayout = layout_of_lines<kMailabs>();

}  // namespace xtts::corpus
