// A layout of corpora: how to see that a folder has it, and how to read clips from it. A new layout
// is one file with one `extern const Layout`, one line in layouts.cpp, a row in README.md (two
// folders up), and a test file with its LayoutExample (tests/unit/corpus/layouts). Nothing else of
// the program names it: the build, --help and the tests of all layouts go by the table. The README
// at the top names the well-known ones.
//
// What discover() does for every layout, so that none has to: the walk of DATA and its refusals,
// the stat of each source, speakers by pattern or by name, the language of the recipe, splits that
// the corpus does not have itself, the subset, canonical order, and the notes on missing texts and
// look-alike ids. Tables of constants; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "corpus/layout_input.hpp"

namespace xtts::corpus {

// Why DATA looks like a layout, as the note that the user gets; nullopt: it does not. A failure: a
// file that would have said so cannot be read; nobody knows then what DATA is.
using Detected = Result<std::optional<std::string>>;

enum class ListPlace : std::uint8_t {
  kAnywhere,  // in any folder, as published corpora have them; or there are no lists
  kInData,    // in DATA itself: they say what all of it is
};

// The keys that name lists: metadata_train_file, metadata_eval_file and the folders of their audio.
enum class ListKeys : std::uint8_t {
  kRefused,  // the layout finds its lists itself; where a list is named, it is not tried
  kTaken,
};

struct Layout {
  std::string_view name;
  std::string_view about;
  Detected (*detect)(const LayoutInput& input);
  // A failure is about the corpus as a whole: no list, nothing that the list names, no audio at
  // all.
  Result<Findings> (*read)(const LayoutInput& input);
  ListPlace list_place = ListPlace::kAnywhere;
  ListKeys list_keys = ListKeys::kRefused;
};

// In the order in which they are tried; the last takes any folder.
[[nodiscard]] std::span<const Layout> layouts();
[[nodiscard]] const Layout* layout_named(std::string_view name);  // null: there is none

// layout.detect() and layout.read(), with what they have in common: the keys that name lists, and
// the name of the layout behind the note.
[[nodiscard]] Detected detect_layout(const Layout& layout, const LayoutInput& input);
[[nodiscard]] Result<Findings> read_layout(const Layout& layout, const LayoutInput& input);

}  // namespace xtts::corpus
