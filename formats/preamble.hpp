// The common parts of the format's binary structures: magic at 0, version at 8, byte-order mark at
// 12, the three flag words at 16, 20 and 24, and a check in the last eight bytes. Pure functions
// over hostile bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::formats {

[[nodiscard]] Status corrupt(std::string message);

// Fails with "version 7 is newer than version 1, the newest that this build reads".
[[nodiscard]] Status check_version(std::uint64_t version, std::string_view what);
// Refuses any set bit by its number: version 1 defines no flag.
[[nodiscard]] Status check_incompat(std::uint64_t flags, std::string_view what);

// `bytes` holds at least 36. Verifies the check in its last eight bytes first, then magic,
// version, byte order, incompat.
[[nodiscard]] Status check_preamble(std::span<const std::byte> bytes, std::string_view magic,
                                    std::string_view what);

// Writes these parts except the check. The flags are zero.
void store_preamble(std::span<std::byte> bytes, std::string_view magic);
// Writes the check of all bytes but the last eight into the last eight.
void seal(std::span<std::byte> bytes);
// Returns the last eight bytes; 0 where there are fewer.
[[nodiscard]] std::uint64_t stored_check(std::span<const std::byte> bytes) noexcept;

}  // namespace xtts::formats
