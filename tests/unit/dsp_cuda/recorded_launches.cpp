#include "unit/dsp_cuda/recorded_launches.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "support/cuda_driver/added_kernels.hpp"

namespace xtts::testing {
namespace {

using dsp_cuda::FrameTable;
using fake_cuda::KernelLaunch;
using fake_cuda::KernelWork;

// The addresses of a table, which are its first members.
constexpr std::array kMembers = {"samples", "window", "sines",      "cosines",    "means",
                                 "spectra", "rows",   "first_bins", "bin_counts", "weight_starts",
                                 "weights", "mels",   "energies",   "not_finite"};
static_assert(offsetof(FrameTable, clip) == kMembers.size() * sizeof(std::uint64_t));
using Addresses = std::array<std::uint64_t, kMembers.size()>;

constexpr std::uint64_t kNoMemory = 0xDEAD'0000'0000'0000U;

Addresses addresses_of(const FrameTable& table) {
  Addresses addresses;
  std::memcpy(addresses.data(), &table, sizeof addresses);
  return addresses;
}

void set_addresses(FrameTable& table, const Addresses& addresses) {
  std::memcpy(static_cast<void*>(&table), addresses.data(), sizeof addresses);
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names = {dsp_cuda::kEnergiesKernel, dsp_cuda::kMelsKernel};
  for (const char* const name :
       {dsp_cuda::kMeansKernel, dsp_cuda::kWindowsKernel, dsp_cuda::kSpectraKernel}) {
    names.emplace_back(name);
    names.push_back(std::string(name) + dsp_cuda::kFloatSuffix);
  }
  return names;
}

// The launch without its memory; each address becomes the number of its range.
RecordedLaunch begin_record(const std::string& kernel, const KernelLaunch& launch,
                            const KernelWork& work) {
  RecordedLaunch record{.kernel = kernel,
                        .grid_x = launch.grid[0],
                        .grid_y = launch.grid[1],
                        .block_x = launch.block[0]};
  std::memcpy(static_cast<void*>(&record.table), launch.parameters[0], sizeof record.table);
  Addresses addresses = addresses_of(record.table);
  record.ranges.resize(work.ranges.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    std::uint64_t number = kNoMemory;
    for (std::size_t range = 0; range < work.ranges.size(); ++range) {
      if (work.ranges[range].address != addresses[i] || work.ranges[range].size_bytes == 0)
        continue;
      number = range;
      record.ranges[range].name = kMembers[i];
      record.ranges[range].is_written = work.ranges[range].is_written;
    }
    addresses[i] = number;
  }
  set_addresses(record.table, addresses);
  return record;
}

std::vector<std::byte> copy_of(const std::byte* memory, std::size_t size_bytes) {
  return size_bytes == 0 ? std::vector<std::byte>()
                         : std::vector<std::byte>(memory, memory + size_bytes);
}

// All written ranges are floats, but a flag that becomes 1, which is no NaN as a float either.
bool is_of_doubles(const std::string& kernel) {
  return kernel == dsp_cuda::kMeansKernel || kernel == dsp_cuda::kWindowsKernel;
}

template <typename T>
bool are_equal(const std::byte* one, const std::byte* other) {
  if (std::memcmp(one, other, sizeof(T)) == 0) return true;
  T x;
  T y;
  std::memcpy(&x, one, sizeof x);
  std::memcpy(&y, other, sizeof y);
  return std::isnan(x) && std::isnan(y);
}

template <typename T>
std::string difference_of(const RecordedRange& range, const std::vector<std::byte>& found) {
  if (found == range.after) return {};
  for (std::size_t i = 0; i + sizeof(T) <= found.size(); i += sizeof(T)) {
    if (are_equal<T>(found.data() + i, range.after.data() + i)) continue;
    T on_host;
    T by_ptx;
    std::memcpy(&on_host, range.after.data() + i, sizeof(T));
    std::memcpy(&by_ptx, found.data() + i, sizeof(T));
    return range.name + "[" + std::to_string(i / sizeof(T)) + "] is " + std::to_string(by_ptx) +
           " by PTX, " + std::to_string(on_host) + " on the host";
  }
  return {};
}

}  // namespace

struct LaunchRecorder::State {
  std::mutex mutex;
  std::vector<RecordedLaunch> launches;
  std::map<std::string, fake_cuda::PlanKernel> originals;
};

namespace {

// The host's work in one piece, with its memory noted before and behind.
template <typename Keep>
KernelWork noting(const KernelWork& work, const RecordedLaunch& begun, const Keep& keep) {
  KernelWork noted = work;
  noted.piece_count = 1;
  noted.run = [work, begun, keep](const std::vector<std::byte*>& memory, std::size_t begin,
                                  std::size_t end) {
    if (begin == end) return;
    RecordedLaunch launch = begun;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      launch.ranges[i].before = copy_of(memory[i], work.ranges[i].size_bytes);
    }
    work.run(memory, 0, work.piece_count);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      launch.ranges[i].after = copy_of(memory[i], work.ranges[i].size_bytes);
    }
    keep(std::move(launch));
  };
  return noted;
}

}  // namespace

LaunchRecorder::LaunchRecorder() : state_(std::make_shared<State>()) {
  const auto keep = [state = state_](RecordedLaunch launch) {
    const std::scoped_lock lock(state->mutex);
    state->launches.push_back(std::move(launch));
  };
  for (const std::string& name : kernel_names()) {
    const fake_cuda::PlanKernel original = fake_cuda::added_kernel(name);
    state_->originals[name] = original;
    fake_cuda::add_kernel(name, [name, original, keep](const KernelLaunch& launch) {
      const KernelWork work = original(launch);
      return work.refusal.empty() ? noting(work, begin_record(name, launch, work), keep) : work;
    });
  }
}

LaunchRecorder::~LaunchRecorder() {
  for (const auto& [name, original] : state_->originals) fake_cuda::add_kernel(name, original);
}

std::vector<RecordedLaunch> LaunchRecorder::take() {
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->launches, {});
}

Replayed replay(const ptx::Program& program, const RecordedLaunch& launch, std::uint32_t grid_x,
                std::uint32_t block_x, std::uint64_t steps_max) {
  using Use = ptx::MemoryRange::Use;
  Replayed replayed;
  for (const RecordedRange& range : launch.ranges) replayed.after.push_back(range.before);
  FrameTable table = launch.table;
  Addresses addresses = addresses_of(table);
  for (std::uint64_t& address : addresses) {
    if (address != kNoMemory)
      address = reinterpret_cast<std::uint64_t>(replayed.after[address].data());
  }
  set_addresses(table, addresses);
  ptx::Launch again{.kernel = launch.kernel,
                    .grid_x = grid_x,
                    .grid_y = launch.grid_y,
                    .block_x = block_x,
                    .table = std::as_bytes(std::span(&table, 1)),
                    .memory = {},
                    .steps_max = steps_max};
  for (std::size_t i = 0; i < launch.ranges.size(); ++i) {
    const RecordedRange& range = launch.ranges[i];
    const Use written = range.name == "not_finite" ? Use::kFlag : Use::kWrite;
    again.memory.push_back({.name = range.name,
                            .address = reinterpret_cast<std::uint64_t>(replayed.after[i].data()),
                            .size_bytes = replayed.after[i].size(),
                            .use = range.is_written ? written : Use::kRead});
  }
  replayed.status = ptx::run(program, again);
  return replayed;
}

std::string difference(const RecordedLaunch& launch, const Replayed& replayed) {
  if (!replayed.status.ok()) return replayed.status.message();
  for (std::size_t i = 0; i < launch.ranges.size(); ++i) {
    const RecordedRange& range = launch.ranges[i];
    if (!range.is_written) continue;
    std::string found = is_of_doubles(launch.kernel)
                            ? difference_of<double>(range, replayed.after[i])
                            : difference_of<float>(range, replayed.after[i]);
    if (!found.empty()) return launch.kernel + ": " + found;
  }
  return {};
}

}  // namespace xtts::testing
