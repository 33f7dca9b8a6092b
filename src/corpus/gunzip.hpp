// gzip in memory. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::corpus {

// What the members of a gzip file hold, one after the other. kInvalidArgument: damaged, cut short,
// or more than `size_bytes_max`, of which no byte is then kept.
[[nodiscard]] Result<std::string> gunzip(std::string_view bytes, std::uint64_t size_bytes_max);

}  // namespace xtts::corpus
