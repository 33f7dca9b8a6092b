#include "support/cuda_driver/fake_kernels.hpp"

#include <algorithm>

#include "cuda/kernels/range_work.hpp"
#include "support/cuda_driver/words.hpp"

namespace xtts::testing::fake_cuda {
namespace {

constexpr std::uint64_t kGridMax[] = {0x7FFFFFFF, 65535, 65535};
constexpr std::uint64_t kBlockMax[] = {1024, 1024, 64};
constexpr std::uint64_t kBlockThreadsMax = 1024;

void check_launch(FakeDriver& driver, const Launch& launch, std::uint64_t range_count,
                  std::uint64_t range_count_max) {
  std::uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    const bool is_grid_good = launch.grid[i] >= 1 && launch.grid[i] <= kGridMax[i];
    const bool is_block_good = launch.block[i] >= 1 && launch.block[i] <= kBlockMax[i];
    const char axis = static_cast<char>('x' + i);
    if (!is_grid_good) {
      driver.refuse(kInvalidValue, std::string("grid.") + axis + " is " +
                                       std::to_string(launch.grid[i]) + ", not 1 to " +
                                       std::to_string(kGridMax[i]));
    }
    if (!is_block_good) {
      driver.refuse(kInvalidValue, std::string("block.") + axis + " is " +
                                       std::to_string(launch.block[i]) + ", not 1 to " +
                                       std::to_string(kBlockMax[i]));
    }
    threads *= launch.block[i];
  }
  if (threads > kBlockThreadsMax) {
    driver.refuse(kInvalidValue, "a block has " + std::to_string(threads) + " threads, and " +
                                     std::to_string(kBlockThreadsMax) + " are the most");
  }
  if (range_count > range_count_max) {
    driver.refuse(kInvalidValue, "the table has " + std::to_string(range_count) + " ranges, and " +
                                     std::to_string(range_count_max) + " are the most");
  }
  if (launch.grid[1] != range_count) {
    driver.refuse(kInvalidValue, "grid.y is " + std::to_string(launch.grid[1]) +
                                     ", but the table has " + std::to_string(range_count) +
                                     " ranges");
  }
}

void check_alignment(FakeDriver& driver, std::uint64_t address, std::uint64_t alignment) {
  if (address % alignment == 0) return;
  driver.refuse(kInvalidValue, "address " + std::to_string(address) + " is no multiple of " +
                                   std::to_string(alignment));
}

// Two ranges that one kernel writes, or writes and reads, have no order.
void check_disjoint(FakeDriver& driver, const Use& one, const Use& other) {
  if (std::max(one.begin, other.begin) >= std::min(one.end, other.end)) return;
  driver.fault(driver.call_name + ": a kernel writes bytes of " + one.memory_name +
               " that its other threads use");
}

void check_disjoint(FakeDriver& driver, const std::vector<Use>& uses) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    for (std::size_t j = i + 1; j < uses.size(); ++j) {
      if (uses[i].is_write || uses[j].is_write) check_disjoint(driver, uses[i], uses[j]);
    }
  }
}

// The range, of which the current context must be the owner.
DeviceRange range_of_kernel(FakeDriver& driver, std::uint64_t address, std::uint64_t size_bytes) {
  const DeviceRange range = driver.device_range(address, size_bytes);
  driver.check_is_current(*range.allocation);
  return range;
}

std::uint64_t float_bytes(FakeDriver& driver, std::uint64_t type) {
  if (type == static_cast<std::uint64_t>(DType::kFloat32)) return 4;
  const bool is_half = type == static_cast<std::uint64_t>(DType::kFloat16) ||
                       type == static_cast<std::uint64_t>(DType::kBFloat16);
  if (!is_half) driver.refuse(kInvalidValue, "type " + std::to_string(type) + " is no float type");
  return 2;
}

}  // namespace

Work make_fill(FakeDriver& driver, const Launch& launch, const cuda::FillTable& table) {
  check_launch(driver, launch, table.range_count, cuda::kFillRangesMax);
  Work work{.name = cuda::kFillKernel};
  for (std::uint64_t i = 0; i < table.range_count; ++i) {
    const cuda::FillRange& range = table.ranges[i];
    const std::uint64_t element = range.element_bytes;
    if (element != 1 && element != 2 && element != 4 && element != 8) {
      driver.refuse(kInvalidValue, "an element has " + bytes_text(element));
    }
    check_alignment(driver, range.address, element);
    check_alignment(driver, range.size_bytes, element);
    const DeviceRange memory = range_of_kernel(driver, range.address, range.size_bytes);
    work.uses.push_back(memory.use(true));
    const cuda::FillPlan plan = cuda::plan_fill(range);
    std::uint64_t begin = 0;
    for (const std::size_t part : driver.cut(cuda::fill_piece_count(plan))) {
      work.pieces.emplace_back([memory, plan, begin, part]() -> std::string {
        auto* const own = reinterpret_cast<unsigned char*>(memory.own());
        for (std::uint64_t k = begin; k < begin + part; ++k) cuda::fill_piece(plan, own, k);
        return {};
      });
      begin += part;
    }
  }
  check_disjoint(driver, work.uses);
  return work;
}

Work make_change(FakeDriver& driver, const Launch& launch, const cuda::ChangeTable& table) {
  check_launch(driver, launch, table.range_count, cuda::kChangeRangesMax);
  const std::uint64_t from_bytes = float_bytes(driver, table.from_type);
  const std::uint64_t to_bytes = float_bytes(driver, table.to_type);
  Work work{.name = cuda::kChangeKernel};
  const auto kept = std::make_shared<const cuda::ChangeTable>(table);
  DeviceRange means;
  DeviceRange divisors;
  if (table.channel_count != 0) {
    const std::uint64_t size_bytes = table.channel_count * sizeof(float);
    check_alignment(driver, table.means, sizeof(float));
    check_alignment(driver, table.divisors, sizeof(float));
    means = range_of_kernel(driver, table.means, size_bytes);
    divisors = range_of_kernel(driver, table.divisors, size_bytes);
    work.uses.push_back(means.use(false));
    work.uses.push_back(divisors.use(false));
  }
  for (std::uint64_t i = 0; i < table.range_count; ++i) {
    const cuda::ChangeRange& range = table.ranges[i];
    check_alignment(driver, range.from, from_bytes);
    check_alignment(driver, range.to, to_bytes);
    const DeviceRange from = range_of_kernel(driver, range.from, range.value_count * from_bytes);
    const DeviceRange to = range_of_kernel(driver, range.to, range.value_count * to_bytes);
    work.uses.push_back(from.use(false));
    work.uses.push_back(to.use(true));
    std::uint64_t begin = 0;
    for (const std::size_t part : driver.cut(range.value_count)) {
      work.pieces.emplace_back([kept, means, divisors, from, to, begin, part]() -> std::string {
        const auto* const own_from = reinterpret_cast<const unsigned char*>(from.own());
        auto* const own_to = reinterpret_cast<unsigned char*>(to.own());
        const bool is_normalized = kept->channel_count != 0;
        const auto* const own_means =
            is_normalized ? reinterpret_cast<const float*>(means.own()) : nullptr;
        const auto* const own_divisors =
            is_normalized ? reinterpret_cast<const float*>(divisors.own()) : nullptr;
        for (std::uint64_t k = begin; k < begin + part; ++k) {
          cuda::change_value(*kept, own_from, own_to, own_means, own_divisors, k);
        }
        return {};
      });
      begin += part;
    }
  }
  check_disjoint(driver, work.uses);
  return work;
}

}  // namespace xtts::testing::fake_cuda
