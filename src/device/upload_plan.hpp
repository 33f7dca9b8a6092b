// UploadPlan: what of a slot crosses the bus, and what the device makes by itself. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "device/device.hpp"

namespace xtts::device {

struct FilledRange {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
  Pattern pattern;
};

struct ChangedRange {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;  // at the consumer's side
  Change change;

  [[nodiscard]] std::size_t stored_bytes() const noexcept {
    return size_bytes / xtts::size_bytes(change.to) * xtts::size_bytes(change.from);
  }
};

// A piece of staging memory that is copied as it is.
struct CopiedRange {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
};

// Padding of up to this size crosses the bus, where it lies between two pieces that cross it: one
// more copy costs as much (2 us, and 25 GB/s). The device fills it afterwards all the same.
inline constexpr std::size_t kBridgedBytesMax = std::size_t{32} << 10U;

// Returns the pieces to copy, in the order of their offsets: everything that is neither filled nor
// changed. Sorts both lists by offset. Ranges do not overlap.
[[nodiscard]] std::vector<CopiedRange> plan_copies(std::size_t staging_bytes,
                                                   std::vector<FilledRange>& filled,
                                                   std::vector<ChangedRange>& changed);

}  // namespace xtts::device
