// Finds files of DATA that may be lists, and reads their first lines, for detection. Reads a
// bounded part of a file at most. Free functions; one thread at a time where Env is used.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/lists/layout_input.hpp"

namespace xtts::corpus {

// A folder with more files of one kind than this holds a file for each clip, not lists.
inline constexpr std::size_t kListCandidatesMax = 64;

// The files directly in `folder` ("" is DATA) whose names end in '.' and one of `endings`: first
// those found, by name, then those refused. Empty where there are more than kListCandidatesMax.
[[nodiscard]] std::vector<std::string> lists_in(const DataTree& tree, std::string_view folder,
                                                std::span<const std::string_view> endings);

// The whole lines in the first 64 KiB of a list, in UTF-8, without a byte-order mark. A failure
// names the list, which was refused or cannot be read; to take DATA for a plain folder then would
// lose its texts.
[[nodiscard]] Result<std::string> beginning_of(const LayoutInput& input, std::string_view list);

// The first line that is not blank, trimmed; empty where there is none. A view of `text`.
[[nodiscard]] std::string_view first_line(std::string_view text);

// Removes the text up to and including the first non-blank line, and returns that line trimmed.
std::string_view take_line(std::string_view& text);

// "a.csv, b.csv", for messages.
[[nodiscard]] std::string names_of(std::span<const std::string> lists);

// kInvalidArgument: a key that names lists (metadata_train_file and the like) is set, and layout
// `name` would ignore it.
[[nodiscard]] Status refuse_list_keys(const formats::CorpusConfig& config, std::string_view name);

// The failure that DATA does not have the requested layout: nothing matches `expected`.
[[nodiscard]] Status not_this_layout(const LayoutInput& input, std::string_view expected);

}  // namespace xtts::corpus
