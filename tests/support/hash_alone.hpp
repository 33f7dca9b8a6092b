// hash_alone(): the hash kernel's arithmetic (cuda/kernels/hash_work.hpp) by one thread of the
// host, without the kernel's tiles. It equals check64() of base/hash.hpp for inputs of
// kHashedBytesMin bytes and more.
#pragma once

#include <cstdint>

#include "cuda/kernels/hash_work.hpp"

namespace xtts::testing {

[[nodiscard]] inline std::uint64_t hash_alone(const unsigned char* memory, std::uint64_t size_bytes,
                                              std::uint64_t seed) {
  cuda::HashState state;
  cuda::begin_hash(state, seed);
  const cuda::HashPlan plan = cuda::plan_hash(size_bytes);
  const cuda::HashedWords words = cuda::words_of(memory);
  for (std::uint32_t lane = 0; lane < cuda::kHashLanes; ++lane) {
    std::uint64_t value = state.lanes[lane];
    for (std::uint64_t block = 0; block <= plan.whole_blocks; ++block) {
      const std::uint64_t sum =
          cuda::lane_sum(state, words, block, cuda::stripes_of_block(plan, block), lane);
      value = cuda::lane_behind_block(state, plan, block, lane, value, sum);
    }
    state.lanes[lane] = value + cuda::last_part(state, memory, size_bytes, lane);
  }
  return cuda::finish_hash(state, size_bytes);
}

}  // namespace xtts::testing
