// The columns that a build writes, as its recipe shapes them. Pure functions.
#pragma once

#include <cstdint>

#include "formats/block.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe.hpp"

namespace xtts::pipeline {

constexpr std::uint32_t kMelId = 0;
constexpr std::uint32_t kTokensId = 1;

[[nodiscard]] formats::ColumnSpec mel_column(const formats::Recipe& recipe,
                                             const formats::Numerics& numerics);
[[nodiscard]] formats::ColumnSpec tokens_column(const formats::Recipe& recipe,
                                                const formats::Numerics& numerics);

}  // namespace xtts::pipeline
