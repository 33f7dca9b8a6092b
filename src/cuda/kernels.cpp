#include "cuda/kernels.hpp"

#include <algorithm>
#include <atomic>
#include <string>

// The compiled kernels (CMakeLists.txt); of length 0 in a build without NVIDIA's compiler.
// NOLINTBEGIN(readability-identifier-naming): names of the assembler
extern "C" const std::byte xtts_embedded_kernels[];
extern "C" const std::size_t xtts_embedded_kernels_bytes;
// NOLINTEND(readability-identifier-naming)

namespace xtts::cuda {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
constexpr std::uint64_t kPiecesPerThread = 8;
constexpr std::uint64_t kBlocksMax = 1024;

std::atomic<const std::span<const std::byte>*> image_of_tests = nullptr;

}  // namespace

std::span<const std::byte> embedded_kernels() noexcept {
  const auto* const given = image_of_tests.load();
  if (given != nullptr) return *given;
  return {static_cast<const std::byte*>(xtts_embedded_kernels), xtts_embedded_kernels_bytes};
}

KernelsForTests::KernelsForTests(std::span<const std::byte> image) noexcept {
  static std::span<const std::byte> kept;
  kept = image;
  image_of_tests = &kept;
}

KernelsForTests::~KernelsForTests() {
  image_of_tests = nullptr;
}

Result<std::unique_ptr<Kernels>> Kernels::load(std::shared_ptr<const Context> context) {
  const std::span<const std::byte> image = embedded_kernels();
  if (image.empty()) {
    return Status(StatusCode::kUnsupported,
                  "this build has no CUDA kernels, because CMake found no nvcc: install the CUDA "
                  "toolkit (12 or 13) and build again, or take the device 'cpu'");
  }
  std::unique_ptr<Kernels> kernels(new Kernels(std::move(context)));
  const Context& on = *kernels->context_;
  CallResult result = kSuccess;
  const Status loaded = on.run("loading kernels into " + on.label(), [&](const DriverCalls& calls) {
    return result = calls.load_module(&kernels->module_, image.data());
  });
  if (result == kInvalidImage || result == kNoBinaryForGpu || result == kUnsupportedPtx) {
    return Status(StatusCode::kUnsupported,
                  loaded.message() + ". " + on.gpu_name() +
                      " needs a newer driver, or a build with another CUDA toolkit");
  }
  XTTS_TRY(loaded);
  XTTS_TRY(on.run("finding a kernel on " + on.label(), [&](const DriverCalls& calls) {
    const CallResult found = calls.find_function(&kernels->fill_, kernels->module_, kFillKernel);
    if (found != kSuccess) return found;
    return calls.find_function(&kernels->change_, kernels->module_, kChangeKernel);
  }));
  return kernels;
}

Kernels::~Kernels() {
  if (module_ == nullptr) return;
  context_->run_quietly([&](const DriverCalls& calls) { return calls.unload_module(module_); });
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
  return context_->run("launching a kernel on " + context_->label(), [&](const DriverCalls& calls) {
    return calls.launch(function, static_cast<unsigned>(blocks), static_cast<unsigned>(range_count),
                        1, kThreadsPerBlock, 1, 1, 0, stream, parameters, nullptr);
  });
}

}  // namespace xtts::cuda
