// The questions that other layouts ask of tables: ljspeech leaves a metadata.csv with a header line
// to `table`.
#pragma once

#include <optional>
#include <string_view>

#include "corpus/layouts/layout.hpp"

namespace xtts::corpus {

// True where a list is a table with a header line that names audio.
[[nodiscard]] Result<bool> is_table(const LayoutInput& input, std::string_view list);

// The failure that a list is a table whose header line has no name that is known for the audio:
// its columns, the known names, and the options that say which is which. nullopt: it is no table.
[[nodiscard]] std::optional<Status> refusal_of_columns(const LayoutInput& input,
                                                       std::string_view list);

}  // namespace xtts::corpus
