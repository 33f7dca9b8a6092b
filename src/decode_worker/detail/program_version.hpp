// The version of these sources: parent and worker work together only if theirs are the same.
#pragma once

#include <string_view>

namespace xtts::decode_worker::detail {

[[nodiscard]] std::string_view program_version() noexcept;

}  // namespace xtts::decode_worker::detail
