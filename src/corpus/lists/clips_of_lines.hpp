// Turns lines of lists into clips: the common part of layouts whose lines have no named fields.
// The layout opens its lists and turns one line into a clip; read_lines() does the rest. One thread
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/layout_input.hpp"
#include "corpus/lists/line_reader.hpp"

namespace xtts::corpus {

// Opens a list; ".gz" is inflated on the way. A failure names the list: it was refused, cannot be
// read, is damaged, UTF-16 or too big. A later failure ends the lines early, and fails the corpus
// through the ReadLog.
[[nodiscard]] Result<LineReader> read_list(const LayoutInput& input, std::string_view list);

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

// Counts a line, adds its clip or a problem, and checks the collector's bounds.
// `separators` end the first field, which is the id of a bad line; may be empty.
[[nodiscard]] Status read_line(const OpenList& list, const LineReader::Line& line,
                               std::string_view separators, const ReadLine& read);
// Reads the remaining lines, without blank ones.
[[nodiscard]] Status read_lines(const OpenList& list, std::string_view separators,
                                const ReadLine& read);

}  // namespace xtts::corpus
