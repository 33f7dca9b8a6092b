// A program of PTX as the machine runs it: names are resolved, and each instruction knows what it
// does. parser.hpp makes it. Immutable once made; share freely.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/ptx/arithmetic.hpp"

namespace xtts::testing::ptx {

inline constexpr std::size_t kOperandsMax = 4;  // a vector has at most four elements

struct Operand {
  bool is_register = false;
  std::uint64_t bits = 0;  // a register's number, or a constant
};

// Registers that the machine sets before a thread begins. They are a kernel's first ones.
enum Special : std::uint32_t {
  kThreadX,
  kBlockSizeX,
  kBlockX,
  kBlockY,
  kGridSizeX,
  kGridSizeY,
  kTableAddress,  // of the kernel's only parameter
  kSpecialCount
};

enum class Step : std::uint8_t {
  kCompute,
  kLoadParameter,
  kLoad,
  kStore,
  kLoadShared,
  kStoreShared,
  kBarrier,  // of all threads of a block
  kBranch,
  kReturn
};

struct Instruction {
  Step step = Step::kReturn;
  bool is_guarded = false;
  bool is_guard_negated = false;
  std::uint32_t guard = 0;  // a register's number
  std::uint32_t line = 0;
  std::string text;

  // kCompute: one result. Loads and stores: the elements of a vector.
  const Arithmetic* arithmetic = nullptr;
  std::array<std::uint32_t, kOperandsMax> results = {};
  std::array<Operand, kOperandsMax> operands = {};

  // Loads and stores.
  Type type;
  std::uint32_t element_count = 1;
  Operand address;
  std::uint64_t offset = 0;

  std::uint32_t target = 0;  // kBranch: the number of the instruction that follows
};

// A variable that the threads of a block share.
struct SharedVariable {
  std::string name;
  std::uint64_t address = 0;  // in the block's shared memory, from kSharedBegin on
  std::uint64_t size_bytes = 0;
};

inline constexpr std::uint64_t kSharedBegin = 1024;    // so that 0 is no address
inline constexpr std::uint64_t kSharedMax = 48 << 10;  // of a block, for all variables

struct Kernel {
  std::string name;
  std::uint64_t table_bytes = 0;  // of its only parameter
  std::uint32_t register_count = kSpecialCount;
  std::vector<Instruction> instructions = {};
  std::vector<SharedVariable> shared = {};
  bool has_barriers = false;
};

using Program = std::map<std::string, Kernel>;

}  // namespace xtts::testing::ptx
