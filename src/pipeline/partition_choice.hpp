// PartitionChoice: which part a build makes, and how many parts there are.
#pragma once

#include <cstdint>

namespace xtts::pipeline {

struct PartitionChoice {
  std::uint32_t index = 1;  // 1 ... count
  std::uint32_t count = 1;
};

}  // namespace xtts::pipeline
