// The problem of a clip whose id an earlier clip has. Pure functions.
#pragma once

#include <string_view>

#include "corpus/lists/layout_input.hpp"

namespace xtts::corpus {

// `source_of_first`: where the earlier clip has its sound.
[[nodiscard]] Reject reject_of_id_twice(std::string_view id, const ClipPlace& place,
                                        const ClipPlace& first, std::string_view source_of_first);

}  // namespace xtts::corpus
