// Device: where batches are consumed, and the memory that carries them there. The one seam between
// the loader and the hardware: nothing above it knows more than these calls.
//
// "cpu" is a device like any other: the consumer reads the very memory that was filled. On a GPU,
// slot memory is page-locked, and upload() copies on a stream of the slot's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::gpu {

// One element, repeated: the lowest `element_bytes` bytes of `bits`.
struct Pattern {
  std::uint64_t bits = 0;
  std::size_t element_bytes = 4;  // 1, 2, 4 or 8
};

// Memory of one batch. In turn: fillers write (several threads, each its own bytes), one thread
// uploads, consumers read, and fillers write again once nobody reads any more. Failures: kResource.
class SlotMemory {
 public:
  virtual ~SlotMemory() = default;

  // Where fillers write. Begins on a page.
  [[nodiscard]] virtual std::span<std::byte> host() noexcept = 0;
  // The consumer is to find the pattern in this range, whose ends lie on elements. It does not
  // cross a bus for that. Instead of writing to the range, by the filler whose range it is.
  virtual void fill(std::size_t offset_bytes, std::size_t size_bytes,
                    const Pattern& pattern) noexcept = 0;
  // Begins to make what was written and filled since the last upload visible to the consumer.
  [[nodiscard]] virtual Status upload() = 0;
  // Returns when the consumer may read.
  [[nodiscard]] virtual Status wait_for_upload() = 0;
  // Where the consumer reads: as long as host(), in the device's own addresses.
  [[nodiscard]] virtual const std::byte* consumer_data() const noexcept = 0;
};

struct DeviceOptions {
  // Keep slots from being swapped out, where the system's limits allow it. A GPU's always are.
  bool lock_memory = false;
};

// Immutable but for what its slots are: share freely, any number of threads. Slots keep their
// device alive.
class Device {
 public:
  virtual ~Device() = default;
  // "cpu". kUnsupported: no such device, or no driver for it; kResource.
  [[nodiscard]] static Result<std::shared_ptr<Device>> open(std::string_view name,
                                                            const DeviceOptions& options = {});

  [[nodiscard]] virtual Result<std::unique_ptr<SlotMemory>> make_slot(std::size_t size_bytes) = 0;
  // What the system did not grant, in words; empty where all was.
  [[nodiscard]] virtual std::string shortfall() const = 0;
};

}  // namespace xtts::gpu
