// The kernels. range_work.hpp and hash_work.hpp have their arithmetic; here is only who does which
// piece.
#include "cuda/kernels/hash_work.hpp"
#include "cuda/kernels/range_work.hpp"

namespace {

__device__ unsigned char* memory_at(std::uint64_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

}  // namespace

// Row y of the grid fills range y. Its threads take pieces in turn.
extern "C" __global__ void xtts_fill_ranges(const __grid_constant__ xtts::cuda::FillTable table) {
  const xtts::cuda::FillRange& range = table.ranges[blockIdx.y];
  const xtts::cuda::FillPlan plan = xtts::cuda::plan_fill(range);
  const std::uint64_t count = xtts::cuda::fill_piece_count(plan);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    xtts::cuda::fill_piece(plan, memory_at(range.address), i);
  }
}

// Row y of the grid changes range y.
extern "C" __global__ void xtts_change_ranges(
    const __grid_constant__ xtts::cuda::ChangeTable table) {
  const xtts::cuda::ChangeRange& range = table.ranges[blockIdx.y];
  const auto* const means = reinterpret_cast<const float*>(table.means);
  const auto* const divisors = reinterpret_cast<const float*>(table.divisors);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < range.value_count; i += stride) {
    xtts::cuda::change_value(table, memory_at(range.from), memory_at(range.to), means, divisors, i);
  }
}

namespace {

// How many blocks of the input are summed before their sums are chained: 4 KiB of sums.
constexpr std::uint32_t kHashTileBlocks = 64;

}  // namespace

// Row y of the grid hashes range y. The grid has one column, because the threads of a range share
// its state.
extern "C" __global__ void xtts_hash_ranges(const __grid_constant__ xtts::cuda::HashTable table) {
  using namespace xtts::cuda;
  __shared__ HashState state;
  __shared__ std::uint64_t sums[kHashTileBlocks * kHashLanes];
  const HashRange& range = table.ranges[blockIdx.y];
  const unsigned char* const memory = memory_at(range.address);
  const HashPlan plan = plan_hash(range.size_bytes);
  const HashedWords words = words_of(memory);
  if (threadIdx.x == 0) begin_hash(state, range.seed);
  __syncthreads();
  for (std::uint64_t tile = 0; tile <= plan.whole_blocks; tile += kHashTileBlocks) {
    const std::uint64_t behind = plan.whole_blocks + 1 - tile;
    const std::uint32_t block_count =
        behind < kHashTileBlocks ? static_cast<std::uint32_t>(behind) : kHashTileBlocks;
    for (std::uint32_t i = threadIdx.x; i < block_count * kHashLanes; i += blockDim.x) {
      const std::uint64_t block = tile + i / kHashLanes;
      sums[i] = lane_sum(state, words, block, stripes_of_block(plan, block), i % kHashLanes);
    }
    __syncthreads();
    for (std::uint32_t lane = threadIdx.x; lane < kHashLanes; lane += blockDim.x) {
      std::uint64_t value = state.lanes[lane];
      for (std::uint32_t i = 0; i < block_count; ++i) {
        value =
            lane_behind_block(state, plan, tile + i, lane, value, sums[i * kHashLanes + lane]);
      }
      state.lanes[lane] = value;
    }
    __syncthreads();
  }
  for (std::uint32_t lane = threadIdx.x; lane < kHashLanes; lane += blockDim.x) {
    state.lanes[lane] += last_part(state, memory, range.size_bytes, lane);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *reinterpret_cast<std::uint64_t*>(range.result) = finish_hash(state, range.size_bytes);
  }
}
