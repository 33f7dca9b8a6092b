#include "cuda/kernel_module.hpp"

#include <algorithm>
#include <string>

// NOLINTBEGIN(readability-identifier-naming): symbols of assembler, as CMake embeds them
extern "C" const std::byte xtts_range_kernels[];
extern "C" const std::byte xtts_range_kernels_ptx[];
// NOLINTEND(readability-identifier-naming)

namespace xtts::cuda {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
constexpr std::uint64_t kPiecesPerThread = 8;
constexpr std::uint64_t kBlocksMax = 1024;

}  // namespace

Result<std::unique_ptr<Kernels>> Kernels::load(std::shared_ptr<const Context> context) {
  XTTS_ASSIGN(Module module,
              Module::load(std::move(context), {xtts_range_kernels, xtts_range_kernels_ptx}));
  std::unique_ptr<Kernels> kernels(new Kernels(std::move(module)));
  XTTS_ASSIGN(kernels->fill_, kernels->module_.find(kFillKernel));
  XTTS_ASSIGN(kernels->change_, kernels->module_.find(kChangeKernel));
  return kernels;
}

Status Kernels::fill(const FillTable& table, StreamHandle stream) const {
  std::uint64_t most_bytes = 0;
  for (std::uint64_t i = 0; i < table.range_count; ++i) {
    most_bytes = std::max(most_bytes, table.ranges[i].size_bytes);
  }
  return launch(fill_, table.range_count, most_bytes / 8, const_cast<FillTable*>(&table), stream);
}

Status Kernels::change(const ChangeTable& table, StreamHandle stream) const {
  std::uint64_t most_values = 0;
  for (std::uint64_t i = 0; i < table.range_count; ++i) {
    most_values = std::max(most_values, table.ranges[i].value_count);
  }
  return launch(change_, table.range_count, most_values, const_cast<ChangeTable*>(&table), stream);
}

// A row of blocks for each range. `table` is only read.
Status Kernels::launch(FunctionHandle function, std::uint64_t range_count,
                       std::uint64_t piece_count_max, void* table, StreamHandle stream) const {
  if (range_count == 0) return {};
  const std::uint64_t blocks = std::clamp<std::uint64_t>(
      piece_count_max / (kThreadsPerBlock * kPiecesPerThread), 1, kBlocksMax);
  void* parameters[] = {table};
  const Context& on = *module_.context();
  return on.run("launching a kernel on " + on.label(), [&](const DriverCalls& calls) {
    return calls.launch(function, static_cast<unsigned>(blocks), static_cast<unsigned>(range_count),
                        1, kThreadsPerBlock, 1, 1, 0, stream, parameters, nullptr);
  });
}

}  // namespace xtts::cuda
