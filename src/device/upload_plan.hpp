// UploadPlan: what of a slot crosses the bus, and what the device makes by itself. Pure.
#pragma once

#include <cstddef>
#include <span>
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

// A range whose bytes, as stored, lie outside of the slot.
struct BorrowedRange {
  std::size_t offset_bytes = 0;
  std::span<const std::byte> bytes;
};

// A piece of a slot that is copied as it is.
struct CopiedRange {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
};

// Padding of up to this size crosses the bus, where it lies between two pieces that cross it: one
// more copy costs as much. The device fills it afterwards all the same. Measured on an H200 with
// PCIe 5 (54 GB/s): a copy of its own costs 2.5 us, as 136 KB do; on PCIe 4 it is half of that. One
// of many copies of one call costs the host 0.5 us.
inline constexpr std::size_t kBridgedByCallsMax = std::size_t{64} << 10U;
inline constexpr std::size_t kBridgedInOneCallMax = std::size_t{8} << 10U;

// Returns the pieces to copy, in the order of their offsets: everything that is neither filled,
// changed nor borrowed, and padding of up to `bridged_bytes_max` between two such pieces. What the
// host reads joins the last piece where that ends with the staging memory, or nearly so. Sorts the
// lists by offset. Ranges do not overlap, but a range may be changed and borrowed.
[[nodiscard]] std::vector<CopiedRange> plan_copies(const SlotBytes& size,
                                                   std::size_t bridged_bytes_max,
                                                   std::vector<FilledRange>& filled,
                                                   std::vector<ChangedRange>& changed,
                                                   std::vector<BorrowedRange>& borrowed);

}  // namespace xtts::device
