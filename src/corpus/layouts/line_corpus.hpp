// LineCorpus: a published corpus whose lists have a clip a line, without names for the fields. It
// says which files are its lists and how a line is read. All else is the same for all of them:
// detection, opening, what becomes of lists that cannot be read. Tables of constants; share freely.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "corpus/files/audio_index.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/lists/clips_of_lines.hpp"

namespace xtts::corpus {

// The facts of its clips that a list's path tells.
struct ListFacts {
  std::string audio_folder = {};  // where names are looked for first
  std::optional<Split> split = {};
  std::string speaker = {};
  std::string language = {};
  std::string id_folder = {};   // goes before the ids of lines that are unique in their list alone
  std::string extra_json = {};  // further facts
};

using Facts = std::optional<ListFacts>;
using NoClip = std::optional<std::string>;  // the reason why a line is no clip

struct CorpusLine {
  const ListLine& line;
  const ListFacts& list;
  const DataTree& tree;
  const NamedAudio* audio = nullptr;  // set: LineCorpus::looks_for_names

  [[nodiscard]] std::string_view text() const { return line.text; }
  [[nodiscard]] std::string_view list_path() const { return line.list.source.list; }
  // Adds a clip; the list's facts fill what it leaves empty. Gives nullopt: it is a clip.
  NoClip add(ListedClip clip) const;
};

enum class UnreadList : std::uint8_t {
  kEndsDiscovery,  // a corpus must not lose a whole split
  kIsProblem,      // one of hundreds of lists
};

struct LineForm {
  std::string_view list;        // the pattern for not_this_layout(): "{train,test}/content.txt"
  std::string_view expected;    // for ClipCollector::finish(): "lines NAME<TAB>text"
  std::string_view separators;  // of read_line()
};

struct LineCorpus {
  std::string_view name;
  std::string_view about;
  std::string_view lists;  // in the note on detection: "MLS transcripts"
  LineForm form;
  // nullopt: not a list of this corpus, by its path.
  Facts (*facts_of)(const DataTree& tree, std::string_view list) = nullptr;
  // Adds the clip of a line, or returns the reason why it is none.
  NoClip (*read)(const CorpusLine& line) = nullptr;
  // Detection alone, where other files have such paths. Null: the path is enough.
  Result<bool> (*looks_so)(const LayoutInput& input, std::string_view list,
                           const ListFacts& facts) = nullptr;
  // Null: lists are in UTF-8, or as corpus.encoding says. Else the encoding that a list with these
  // bytes was published in; empty: UTF-8.
  std::string_view (*published_in)(std::string_view bytes, const ListFacts& facts) = nullptr;
  // Returns a note on a list for the user; empty: nothing. May be null.
  std::string (*note_on)(const DataTree& tree, const ListFacts& facts) = nullptr;
  bool looks_for_names = false;  // the lists do not give the folder of the audio
  UnreadList unread = UnreadList::kEndsDiscovery;
};

// "a" and "b c" of "a<TAB>b c"; nullopt: the line has no separator.
struct NameAndText {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::optional<NameAndText> name_and_text(std::string_view line,
                                                       std::string_view separators);
// The first line of a list, for LineCorpus::looks_so.
[[nodiscard]] Result<std::string> first_line_of(const LayoutInput& input, std::string_view list);

[[nodiscard]] Detected detect_line_corpus(const LineCorpus& corpus, const LayoutInput& input);
[[nodiscard]] Result<Findings> read_line_corpus(const LineCorpus& corpus, const LayoutInput& input);

template <const LineCorpus& corpus>
constexpr Layout layout_of_lines() {
  return {corpus.name, corpus.about,
          [](const LayoutInput& input) { return detect_line_corpus(corpus, input); },
          [](const LayoutInput& input) { return read_line_corpus(corpus, input); }};
}

}  // namespace xtts::corpus
