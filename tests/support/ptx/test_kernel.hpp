// A kernel of a few lines for this folder's tests. Its table has eight words of 8 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "support/ptx/ptx_machine.hpp"
#include "xtts/status.hpp"

namespace xtts::testing::ptx {

// The text of a kernel `test` with this body. There are 9 registers of each type: %p0 to %p8, %rs
// (16 bits), %r (32), %rd (64), %f (float), %fd (double).
[[nodiscard]] std::string kernel_text(const std::string& body);

using Words = std::array<std::uint64_t, 8>;

// `launch` says grid and memory.
[[nodiscard]] Status run_body(const std::string& body, const Words& table, Launch launch = {});

// Returns what one instruction makes of up to three values, a to c. Registers end with 1 to 3 for
// those and with 4 for the result: "add.s32 %r4, %r1, %r2;".
[[nodiscard]] std::uint64_t result_of(const std::string& instruction, std::uint64_t a,
                                      std::uint64_t b = 0, std::uint64_t c = 0);

}  // namespace xtts::testing::ptx
