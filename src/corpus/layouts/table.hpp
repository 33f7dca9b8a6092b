// Whether a list is a table with a header line: ljspeech leaves such a metadata.csv to it.
#pragma once

#include <string_view>

#include "corpus/layouts/layout.hpp"

namespace xtts::corpus {

[[nodiscard]] Result<bool> is_table(const LayoutInput& input, std::string_view list);

}  // namespace xtts::corpus
