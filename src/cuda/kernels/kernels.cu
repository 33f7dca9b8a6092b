// The kernels. range_work.hpp has their arithmetic; here is only who does which piece.
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
