// Lists of lines -> clips: what layouts whose lines have no named fields have in common. Such a
// layout finds its lists, says how a line becomes a clip, and leaves the rest to clips_of_lines().
// One thread at a time.
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
#include "corpus/met_files.hpp"

namespace xtts::corpus {

// Opens a list, inflated on the way where its name ends in ".gz". A failure names it: it was
// refused, cannot be read, is damaged, UTF-16 or too big. What goes wrong further on ends its lines
// early, and the ReadLog makes a failure of the corpus of it.
[[nodiscard]] Result<LineReader> read_list(const LayoutInput& input, std::string_view list);

// The lists that `source_of` (MetFile -> std::optional<ListSource>) knows, in the order of the
// tree.
template <typename SourceOf>
std::vector<ListSource> lists_found(const DataTree& tree, SourceOf source_of) {
  std::vector<ListSource> sources;
  for_each_file(tree, FilesAsked::kNotAudio, [&](const MetFile& file) {
    if (auto source = source_of(file)) sources.push_back(std::move(*source));
  });
  return sources;
}

// A list that is being read.
struct OpenList {
  const ListSource& source;
  LineReader& lines;
  ClipCollector& clips;
};

// One of its lines, which is not blank and fit to be a text.
struct ListLine {
  const OpenList& list;
  std::uint64_t number = 0;
  std::string_view text;

  void add(ListedClip clip) const;
  // A problem, under another id than the first field.
  void refuse(std::string_view id, std::string reason) const;
};

// Adds the clip of a line. Returned is the reason where it is none, which becomes a problem.
using ReadLine = std::function<std::optional<std::string>(const ListLine& line)>;
// Makes the ReadLine of one list, whose header, if it has one, is still to be taken.
using ReaderOfList = std::function<Result<ReadLine>(const OpenList& list)>;

struct LineForm {
  std::string_view list;      // what not_this_layout() looked for: "{train,test}/content.txt"
  std::string_view expected;  // as ClipCollector::finish() takes it: "lines NAME<TAB>text"
  std::string_view
      separators;  // end the first field, the id of a line that is no clip; may be empty
};

// Counts a line, adds its clip or a problem, and checks the collector's bounds.
[[nodiscard]] Status read_line(const OpenList& list, const LineReader::Line& line,
                               std::string_view separators, const ReadLine& read);
// The lines that are still to come, but for blank ones.
[[nodiscard]] Status read_lines(const OpenList& list, std::string_view separators,
                                const ReadLine& read);

// The clips of all `sources`; where there are none, a failure that says so. `notes` come first.
[[nodiscard]] Result<Findings> clips_of_lines(const LayoutInput& input,
                                              std::span<const ListSource> sources,
                                              const LineForm& form, const ReaderOfList& reader_of,
                                              std::vector<std::string> notes = {});

}  // namespace xtts::corpus
