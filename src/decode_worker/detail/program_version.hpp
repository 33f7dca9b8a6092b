// The version of these sources: parent and worker are of the same, or do not work together.
#pragma once

#include <string_view>

namespace xtts::decode_worker::detail {

[[nodiscard]] std::string_view program_version() noexcept;

}  // namespace xtts::decode_worker::detail
