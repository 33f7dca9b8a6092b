// Split: the purpose of a clip. Plans and records hold its number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace xtts::formats {

// Persisted. Values never change.
enum class Split : std::uint8_t { kTrain = 0, kValidation = 1, kTest = 2 };

inline constexpr std::array<Split, 3> kSplits{Split::kTrain, Split::kValidation, Split::kTest};

// Returns "train", "validation" or "test"; "unknown" for a number that this version does not know.
[[nodiscard]] std::string_view to_string(Split split) noexcept;
[[nodiscard]] std::string_view split_name(std::uint8_t number) noexcept;

// Returns the split of that name.
[[nodiscard]] std::optional<Split> split_named(std::string_view name) noexcept;

}  // namespace xtts::formats
