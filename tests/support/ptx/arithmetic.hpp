// The instructions that compute: a table from their full names ("setp.leu.f32") to functions. A
// name that is not in the table is unknown, so no modifier is ever ignored.
//
// Results are those of NVIDIA's PTX ISA, in every bit. Of a NaN that arithmetic makes, the ISA
// fixes the bits for f32 alone; here all of them but the sign are 1, for f64 too.
//
// Immutable, share freely. A division of integers by 0 throws a Fault.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace xtts::testing::ptx {

inline constexpr std::size_t kArithmeticOperandsMax = 4;

enum class Kind : std::uint8_t { kUnsigned, kSigned, kFloat, kPredicate };

// A type of PTX. Its .b types are unsigned here.
struct Type {
  Kind kind = Kind::kUnsigned;
  std::uint32_t size_bytes = 0;
};

struct Arithmetic {
  // Registers hold 64 bits; a function uses the lower ones. What it returns is extended by its
  // sign, where it has one.
  std::uint64_t (*run)(const std::array<std::uint64_t, kArithmeticOperandsMax>& operands) = nullptr;
  Type result;
  std::array<Type, kArithmeticOperandsMax> operands = {};
  std::size_t operand_count = 0;
  bool fits_larger_registers = false;  // cvt: registers may be larger than the types
};

// Null if the name is unknown.
[[nodiscard]] const Arithmetic* find_arithmetic(std::string_view name);

}  // namespace xtts::testing::ptx
