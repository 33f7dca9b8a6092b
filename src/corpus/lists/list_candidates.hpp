// Which files of DATA may be lists, and what their first lines are: what detection looks at. Reads
// a bounded beginning of a file at most. Free functions; one thread at a time where Env is asked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/layout_input.hpp"

namespace xtts::corpus {

// A folder with more files of a kind than this holds a file for each clip, not lists.
inline constexpr std::size_t kListCandidatesMax = 64;

// The files that `folder` ("" is DATA) itself holds whose names end in '.' and one of `endings`:
// those found, by name, then those refused. None where there are more than kListCandidatesMax.
[[nodiscard]] std::vector<std::string> lists_in(const DataTree& tree, std::string_view folder,
                                                std::span<const std::string_view> endings);

// The whole lines among the first 64 KiB of a list, without a byte-order mark; of UTF-16 what is
// ASCII, so that reading the whole can say what is wrong with it. A failure names the list: it was
// refused, or cannot be read. To take DATA for a plain folder then would lose its texts.
[[nodiscard]] Result<std::string> beginning_of(const LayoutInput& input, std::string_view list);

// The first line that is not blank, trimmed; empty where there is none. A view of `text`.
[[nodiscard]] std::string_view first_line(std::string_view text);

// Takes what first_line() would return, and what comes before it, off `text`.
std::string_view take_line(std::string_view& text);

// "a.csv, b.csv", as people are told.
[[nodiscard]] std::string names_of(std::span<const std::string> lists);

// kInvalidArgument where one of the keys that name lists (metadata_train_file and its like) is set:
// layout `name` would ignore it.
[[nodiscard]] Status refuse_list_keys(const formats::CorpusConfig& config, std::string_view name);

// That a layout was asked for which DATA does not have: there is none of what it is known by.
[[nodiscard]] Status not_this_layout(const LayoutInput& input, std::string_view expected);

}  // namespace xtts::corpus
