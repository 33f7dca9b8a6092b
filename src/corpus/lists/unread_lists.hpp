// Finds lists in DATA that no layout reads. A plain folder with such a list would lose the texts
// and splits of a corpus, so a build stops there unless the user says that this is meant.
//
// Reads only the first 64 KiB of each candidate. Free functions; one thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "corpus/lists/layout_input.hpp"

namespace xtts::corpus {

// The lists that DATA, taken for a plain folder, would leave unread: "cv-train.csv begins with
// 'wav_filename,transcript'". A file counts if most of its first lines name audio of DATA. Packed
// files (.gz), Parquet and Arrow files count without a look. Lists in the folder `but_below` of
// DATA do not count. nullopt: there are none.
[[nodiscard]] Result<std::optional<std::string>> find_unread_lists(const LayoutInput& input,
                                                                   std::string_view but_below = {});

// The number of clips with further fields that the next function looks at.
inline constexpr std::size_t kClipsSeen = 64;
// A column with sentences, where the lists that were read have no column known as the text:
// "column spoken_words". nullopt: some clip has a text, or no column has sentences.
[[nodiscard]] std::optional<std::string> find_unread_text(std::span<const Clip> clips);

}  // namespace xtts::corpus
