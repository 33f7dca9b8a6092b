// Lists that DATA holds and no layout reads. A plain folder beside one is a corpus that would lose
// its texts and its splits, so a build stops there unless somebody says that this is meant.
//
// Reads the first 64 KiB of the candidates alone. Free functions; one thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "corpus/layout_input.hpp"

namespace xtts::corpus {

// What DATA, taken for a plain folder, would leave unread: "cv-train.csv begins with
// 'wav_filename,transcript'". A file counts where most of its first lines name audio of DATA; what
// is packed (.gz), and Parquet and Arrow files, count unseen. nullopt: there is none.
[[nodiscard]] Result<std::optional<std::string>> find_unread_lists(const LayoutInput& input);

// The columns of lists that were read, none of them known as the text, though one has sentences:
// "column spoken_words". nullopt: some clip has a text, or no column looks like one.
[[nodiscard]] std::optional<std::string> find_unread_text(std::span<const Clip> clips);

}  // namespace xtts::corpus
