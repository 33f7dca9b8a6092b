// Lists of named fields -> clips: what nemo, audiofolder and table have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/layout_input.hpp"
#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {

// Its clip: the fields of the row, as views of it, but for the id's suffix.
[[nodiscard]] ListedClip listed(const RowClip& row);

// Takes a row of named fields, an object. A failure ends the list.
using ReadRow = std::function<Status(std::uint64_t line, nlohmann::json fields)>;
// Counts the rows that are still to come, makes those without fields problems, hands the others to
// `read`, and checks the collector's bounds after each.
[[nodiscard]] Status read_rows(NamedRows& rows, const ListSource& source, ClipCollector& clips,
                               const ReadRow& read);

// The id of a row that has none.
enum class RowIds : std::uint8_t {
  kOfAudio,      // that of its audio, as ClipCollector makes it
  kInListFolder  // its path beside the list, from DATA on: equal names in train/ and test/ differ
};

// Reads the rows of all `sources`, in this order. `expected` as in ClipCollector::finish; notes
// come first in the findings.
[[nodiscard]] Result<Findings> clips_of_rows(const LayoutInput& input,
                                             std::span<const ListSource> sources,
                                             std::span<const FieldNames> names, RowIds ids,
                                             std::string_view expected,
                                             std::vector<std::string> notes = {});

// A header with '|' is mostly that of an LJSpeech list, whose first text may hold such words
// between commas: it counts where the columns are named by the recipe.
enum class PipeHeaders : std::uint8_t { kRefused, kTaken };

// Whether the beginning of `list` has rows with a field of `role`: a header that names it, or a
// JSON object among the first lines in which it is a text.
[[nodiscard]] Result<bool> begins_with_rows(const LayoutInput& input, std::string_view list,
                                            std::span<const FieldNames> names, FieldRole role,
                                            PipeHeaders pipes = PipeHeaders::kRefused);
// Those of lists_in() that do.
[[nodiscard]] Result<std::vector<std::string>> lists_with_rows(
    const LayoutInput& input, std::string_view folder, std::span<const std::string_view> endings,
    std::span<const FieldNames> names, FieldRole role, PipeHeaders pipes = PipeHeaders::kRefused);

// The lists that are all of the corpus: the only one; or several whose names are splits, each with
// its own. kInvalidArgument where there are several others: which are meant, nobody can know.
// Audio is looked for in the usual folders.
[[nodiscard]] Result<std::vector<ListSource>> lists_by_split(const LayoutInput& input,
                                                             std::span<const std::string> lists,
                                                             std::string_view layout);

}  // namespace xtts::corpus
