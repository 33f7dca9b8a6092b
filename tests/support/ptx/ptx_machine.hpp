// The machine: runs a kernel of a program on the host, one thread after the other. At a
// barrier the next thread begins, until all of the block are there.
//
// Any number of calls at once, on memory of their own. Failure: kInternal, with words that name
// kernel, line, instruction and thread. What was written before stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/ptx/ptx_memory.hpp"
#include "support/ptx/ptx_program.hpp"
#include "xtts/status.hpp"

namespace xtts::testing::ptx {

struct Launch {
  std::string kernel;
  std::uint32_t grid_x = 1;
  std::uint32_t grid_y = 1;
  std::uint32_t block_x = 1;
  std::span<const std::byte> table = {};  // the kernel's only parameter, with addresses of the host
  std::vector<MemoryRange> memory = {};
  std::uint64_t steps_max = 1'000'000;  // of one thread; more count as a loop without an end
};

[[nodiscard]] Status run(const Program& program, const Launch& launch);

}  // namespace xtts::testing::ptx
