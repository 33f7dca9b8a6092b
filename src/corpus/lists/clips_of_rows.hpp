// Turns lists of named fields into clips: the common part of nemo, audiofolder and table.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/layout_input.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {

// The clip of a row: views of the row's fields, without the id's suffix.
[[nodiscard]] ListedClip listed(const RowClip& row);

// Takes a row of named fields, an object. A failure ends the list.
using ReadRow = std::function<Status(std::uint64_t line, nlohmann::json fields)>;
// Counts the remaining rows and gives each to `read`; a row without fields becomes a problem.
// Checks the collector's bounds after each row.
[[nodiscard]] Status read_rows(NamedRows& rows, const ListSource& source, ClipCollector& clips,
                               const ReadRow& read);

// The id of a row that does not give one.
enum class RowIds : std::uint8_t {
  kOfAudio,      // the id of its audio, from ClipCollector
  kInListFolder  // its path beside the list, from DATA: equal names in train/ and test/ differ
};

// Reads the rows of all `sources`, in this order. `expected` as in ClipCollector::finish; `notes`
// come first in the findings.
[[nodiscard]] Result<Findings> clips_of_rows(const LayoutInput& input,
                                             std::span<const ListSource> sources,
                                             std::span<const FieldNames> names, RowIds ids,
                                             std::string_view expected,
                                             std::vector<std::string> notes = {});

// A header with '|' is usually that of an LJSpeech list, whose first text may hold such words
// between commas. It counts only where the recipe names the columns.
enum class PipeHeaders : std::uint8_t { kRefused, kTaken };

// True where the first part of `list` has rows with a field of `role`: a header names it, or it is
// a text in a JSON object among the first lines.
[[nodiscard]] Result<bool> begins_with_rows(const LayoutInput& input, std::string_view list,
                                            std::span<const FieldNames> names, FieldRole role,
                                            PipeHeaders pipes = PipeHeaders::kRefused);
// The lists of lists_in() for which begins_with_rows() is true.
[[nodiscard]] Result<std::vector<std::string>> lists_with_rows(
    const LayoutInput& input, std::string_view folder, std::span<const std::string_view> endings,
    std::span<const FieldNames> names, FieldRole role, PipeHeaders pipes = PipeHeaders::kRefused);

// The lists that make up the corpus: the only one, or several whose names are splits.
// kInvalidArgument: there are several others, so nobody can know which are meant. Audio is looked
// for in the usual folders.
[[nodiscard]] Result<std::vector<ListSource>> lists_by_split(const LayoutInput& input,
                                                             std::span<const std::string> lists,
                                                             std::string_view layout);

}  // namespace xtts::corpus
