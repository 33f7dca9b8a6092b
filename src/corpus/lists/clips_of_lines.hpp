// Turns lines of lists into clips: the common part of layouts whose lines have no named fields.
// The layout finds its lists and turns one line into a clip; clips_of_lines() does the rest. One
// thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus/layout_input.hpp"
#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/walked_files.hpp"

namespace xtts::corpus {

// Opens a list; ".gz" is inflated on the way. A failure names the list: it was refused, cannot be
// read, is damaged, UTF-16 or too big. A later failure ends the lines early, and fails the corpus
// through the ReadLog.
[[nodiscard]] Result<LineReader> read_list(const LayoutInput& input, std::string_view list);

// The lists that `source_of` (WalkedFile -> std::optional<ListSource>) accepts, in tree order.
template <typename SourceOf>
std::vector<ListSource> lists_found(const DataTree& tree, SourceOf source_of) {
  std::vector<ListSource> sources;
  for_each_file(tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    if (auto source = source_of(file)) sources.push_back(std::move(*source));
  });
  return sources;
}

// A list in work.
struct OpenList {
  const ListSource& source;
  LineReader& lines;
  ClipCollector& clips;
};

// A line of the list, not blank and valid as a text.
struct ListLine {
  const OpenList& list;
  std::uint64_t number = 0;
  std::string_view text;

  void add(ListedClip clip) const;
  // Adds a problem, with an id other than the first field.
  void refuse(std::string_view id, std::string reason) const;
};

// Adds the clip of a line. If the line is no clip, returns the reason, which becomes a problem.
using ReadLine = std::function<std::optional<std::string>(const ListLine& line)>;
// Makes the ReadLine of one list. The list's header, if it has one, is not read yet.
using ReaderOfList = std::function<Result<ReadLine>(const OpenList& list)>;

struct LineForm {
  std::string_view list;        // the pattern for not_this_layout(): "{train,test}/content.txt"
  std::string_view expected;    // for ClipCollector::finish(): "lines NAME<TAB>text"
  std::string_view separators;  // end the first field, which is the id of a bad line; may be empty
};

// Counts a line, adds its clip or a problem, and checks the collector's bounds.
[[nodiscard]] Status read_line(const OpenList& list, const LineReader::Line& line,
                               std::string_view separators, const ReadLine& read);
// Reads the remaining lines, without blank ones.
[[nodiscard]] Status read_lines(const OpenList& list, std::string_view separators,
                                const ReadLine& read);

// The clips of all `sources`; no sources: a failure that says so. `notes` come first.
[[nodiscard]] Result<Findings> clips_of_lines(const LayoutInput& input,
                                              std::span<const ListSource> sources,
                                              const LineForm& form, const ReaderOfList& reader_of,
                                              std::vector<std::string> notes = {});

}  // namespace xtts::corpus
