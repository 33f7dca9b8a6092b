// Isa: the instruction sets that the kernels are written for. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace xtts::dsp {

// kBest is the best one that the processor has. The others are for tests and for `--isa`.
enum class Isa : std::uint8_t { kBest, kScalar, kAvx2, kAvx512 };

[[nodiscard]] Isa best_isa() noexcept;
[[nodiscard]] std::string_view to_string(Isa isa) noexcept;

}  // namespace xtts::dsp
