// What the kernels are told: tables of ranges of device memory. The host fills them, and a launch
// takes a copy, so a table needs no memory on the device and does not outlive the call.
//
// Compiled by C++ and by CUDA; so no type here has a member function with a body.
#pragma once

#include <cstdint>

namespace xtts::cuda {

// A launch takes at most 4 KiB of parameters on every architecture.
inline constexpr std::uint32_t kFillRangesMax = 120;
inline constexpr std::uint32_t kChangeRangesMax = 150;

// One element, repeated. `size_bytes` is a multiple of `element_bytes` (1, 2, 4, 8), and so is
// `address`.
struct FillRange {
  std::uint64_t address;
  std::uint64_t size_bytes;
  std::uint64_t bits;
  std::uint64_t element_bytes;
};

struct FillTable {
  std::uint64_t range_count;
  FillRange ranges[kFillRangesMax];
};

// Values that are widened, or normalized, or both. The first value belongs to channel 0.
struct ChangeRange {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t value_count;
};

// The float types, in the numbers of xtts::DType.
struct ChangeTable {
  std::uint64_t range_count;
  std::uint64_t from_type;
  std::uint64_t to_type;
  std::uint64_t channel_count;  // 0: not normalized
  std::uint64_t means;          // device address of float32 [channel_count]
  std::uint64_t divisors;       // device address of float32 [channel_count]
  ChangeRange ranges[kChangeRangesMax];
};

static_assert(sizeof(FillTable) <= 4096);
static_assert(sizeof(ChangeTable) <= 4096);

// The kernels' names in the module. Each takes its table as its only parameter.
inline constexpr char kFillKernel[] = "xtts_fill_ranges";
inline constexpr char kChangeKernel[] = "xtts_change_ranges";

}  // namespace xtts::cuda
