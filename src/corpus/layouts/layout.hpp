// Layout: detects whether a folder has a known form, and reads its clips. A new layout is one file
// with one `extern const Layout`, one line in layouts.cpp, a row in src/corpus/README.md, and a
// test file with its LayoutExample (tests/unit/corpus/layouts). A corpus whose lists have a clip
// a line is a row in line_corpora.cpp, not a file. Other code does not name a layout: the build,
// --help and the tests of all layouts use the table. The README at the top names the well-known
// ones.
//
// discover() does the rest for every layout: the walk of DATA and its refusals, the stat of each
// source, speakers by pattern or by name, the recipe's language, splits that the corpus does not
// have itself, the subset, canonical order, and the notes on missing texts and look-alike ids.
// Tables of constants; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "corpus/lists/layout_input.hpp"

namespace xtts::corpus {

// Why DATA looks like a layout, as a note for the user; nullopt: it does not. A failure: a file
// that would decide cannot be read, so the layout of DATA is unknown.
using Detected = Result<std::optional<std::string>>;

enum class ListPlace : std::uint8_t {
  kAnywhere,  // in any folder, as in published corpora; or there are no lists
  kInData,    // in DATA itself: they describe all of it
};

// The keys that name lists: metadata_train_file, metadata_eval_file, and their audio folders.
enum class ListKeys : std::uint8_t {
  kRefused,  // the layout finds its lists itself; it is not tried when the config names one
  kTaken,
};

struct Layout {
  std::string_view name;
  std::string_view about;
  Detected (*detect)(const LayoutInput& input);
  // A failure is about the whole corpus: no list, a list without usable clips, or no audio.
  Result<Findings> (*read)(const LayoutInput& input);
  ListPlace list_place = ListPlace::kAnywhere;
  ListKeys list_keys = ListKeys::kRefused;
};

// In the order of detection; the last accepts any folder.
[[nodiscard]] std::span<const Layout> layouts();
[[nodiscard]] const Layout* layout_named(std::string_view name);  // null: there is none

// Call layout.detect() and layout.read(). They also check the keys that name lists, and add the
// layout's name to the note.
[[nodiscard]] Detected detect_layout(const Layout& layout, const LayoutInput& input);
[[nodiscard]] Result<Findings> read_layout(const Layout& layout, const LayoutInput& input);

}  // namespace xtts::corpus
