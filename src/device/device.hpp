// A Device is where batches are consumed; it makes the memory that carries them there. It is the
// only interface between the loader and the hardware: the code above knows only these calls.
// README.md shows the way of the data.
//
// "cpu" is a device like any other: the consumer reads the very memory that was filled, and every
// event has happened already. On a GPU, staging memory is page-locked; upload() copies on the
// slot's stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/channel_norm.hpp"
#include "device/borrowable_memory.hpp"
#include "xtts/device_id.hpp"
#include "xtts/dtype.hpp"
#include "xtts/status.hpp"

namespace xtts::device {

class Device;

// How a device makes values from stored ones: it widens half floats, or normalizes, or both.
struct Change {
  DType from = DType::kFloat32;
  DType to = DType::kFloat32;  // no smaller than `from`
  // Null: only widened. Lives until the upload is done.
  const ChannelNorm* norm = nullptr;
};

// One element, repeated: the lowest `element_bytes` bytes of `bits`.
struct Pattern {
  std::uint64_t bits = 0;
  std::size_t element_bytes = 4;  // 1, 2, 4 or 8
};

// The end of an upload. Any number of threads. Failures: kResource, of the upload.
class Event {
 public:
  virtual ~Event() = default;
  // Waits until the event has happened.
  [[nodiscard]] virtual Status wait() const = 0;
  // Makes a device stream wait for the event, and returns at once: later work on the stream runs
  // after the event. `stream` is its handle, as in DLPack. A device without streams does nothing.
  [[nodiscard]] virtual Status let_wait(std::uintptr_t stream) const = 0;
};

// The moment from which a device no longer reads memory: an upload has copied what it borrowed.
// Only the host waits for it. As Event otherwise.
class BorrowingEnd {
 public:
  virtual ~BorrowingEnd() = default;
  [[nodiscard]] virtual Status wait() const = 0;
  [[nodiscard]] virtual bool has_happened() const noexcept = 0;
};

// SlotMemory is the memory of one batch. It is used in a cycle:
//
//   begin_filling()   every filler before its first write; the first waits until it may write
//   staging() fill() change() borrow()  fillers write, several threads, each its own bytes
//   host()            fillers write it, too
//   upload()          one thread, once; no write follows
//   wait on the event, read at consumer_data() and host()
//   end_lease()       no new read begins
//
// Its destruction waits for running uploads. Failures: kResource.
class SlotMemory {
 public:
  virtual ~SlotMemory() = default;

  [[nodiscard]] virtual const Device& device() const noexcept = 0;

  // Waits until staging memory may be written: the last upload is done. The next upload waits, on
  // the host here or on the device, for all work that waiting streams received until end_lease().
  [[nodiscard]] virtual Status begin_filling() = 0;
  // True where neither the filler nor the next upload would have to wait.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
  // The memory into which fillers write the consumer's data. Begins on a page. After upload() the
  // loader neither writes nor reads it.
  [[nodiscard]] virtual std::span<std::byte> staging() noexcept = 0;
  // Fills a range at the consumer's side with a pattern, without sending it over a bus. The filler
  // of the range calls this instead of writing to it. The range begins and ends on an element.
  virtual void fill(std::size_t offset_bytes, std::size_t size_bytes,
                    const Pattern& pattern) noexcept = 0;
  // Lets the device make a range at the consumer's side from stored values, which the filler writes
  // at the range's beginning in staging(). Values begin with the first channel. False: this device
  // does not; the filler changes the values itself and writes the whole range.
  [[nodiscard]] virtual bool change(std::size_t offset_bytes, std::size_t size_bytes,
                                    const Change& change) = 0;
  // Takes a range from `bytes`, which are what the filler would have written at the range's
  // beginning in staging(). They lie in BorrowableMemory of this device. They stay as they are
  // until borrowed_until() has happened, or discard() has been called. False: this device borrows
  // nothing; the filler writes the range.
  [[nodiscard]] virtual bool borrow(std::size_t /*offset_bytes*/,
                                    std::span<const std::byte> /*bytes*/) {
    return false;
  }
  // After upload(), failed or not: when borrowed bytes may change. Stays valid without the slot.
  // Null: they may change now.
  [[nodiscard]] virtual std::shared_ptr<const BorrowingEnd> borrowed_until() const {
    return nullptr;
  }
  // Forgets everything written, filled, changed and borrowed since begin_filling(), so that it is
  // done again. One thread, while no filler writes.
  virtual void discard() noexcept = 0;
  // The memory for data that the host reads, on every device: fillers write it, and it stays until
  // end_lease(). Begins on a page.
  [[nodiscard]] virtual std::span<std::byte> host() noexcept = 0;
  // Begins to transfer everything written, filled, changed and borrowed to consumer_data(). The
  // slot owns the event, which stands for this upload until the slot is filled again.
  [[nodiscard]] virtual Result<const Event*> upload() = 0;
  // The memory that the consumer reads after the event: as long as staging(), a device address.
  [[nodiscard]] virtual const std::byte* consumer_data() const noexcept = 0;
  // host() once more, where the consumer reads it after the event.
  [[nodiscard]] virtual const std::byte* consumer_host_data() const noexcept = 0;
  // Does not wait. Any thread. Call it also without a batch, after a failed begin_filling().
  virtual void end_lease() noexcept = 0;
};

struct SlotBytes {
  std::size_t staging = 0;
  std::size_t host = 0;
  // Ranges will be given to change(). A device may hold their stored values beside.
  bool has_changes = false;
};

inline constexpr std::size_t kPageBytes = 4096;

// Where host() lies in a slot that has both in one block: on the page behind staging().
[[nodiscard]] constexpr std::size_t host_offset_bytes(const SlotBytes& size) noexcept {
  return (size.staging + kPageBytes - 1) / kPageBytes * kPageBytes;
}

struct DeviceOptions {
  // Locks slots in memory, as far as the system's limits allow. A GPU's slots are always locked.
  bool lock_memory = false;
  // The memory of a GPU that the readers of this process may hold together; 0: no limit.
  std::uint64_t gpu_memory_bytes = 0;
  // For a GPU: another one ("cuda:0") that receives the batches, widens, normalizes and pads them,
  // and copies them to the consumer's GPU. Empty: the consumer's GPU does it.
  std::string data_device = {};
  std::uint64_t data_gpu_memory_bytes = 0;  // as gpu_memory_bytes, of that GPU
};

// Immutable except for its slots: any number of threads. Slots keep their device alive.
class Device {
 public:
  virtual ~Device() = default;
  // "cpu"; "cuda" (the first GPU), "cuda:N"; "pinned": the CPU, with slots that are page-locked for
  // the GPUs' own copies, if there are GPUs; "auto": the first GPU, or else the CPU. Where "pinned"
  // and "auto" find no GPU, shortfall() says why. kUnsupported: no such device, or no driver for
  // it; kResource.
  [[nodiscard]] static Result<std::shared_ptr<Device>> open(std::string_view name,
                                                            const DeviceOptions& options = {});

  [[nodiscard]] virtual DeviceId id() const noexcept = 0;
  // Where a GPU lies: "0000:01:00.0". Empty: it is no GPU, or its driver does not tell.
  [[nodiscard]] virtual std::string pci_bus_id() const { return {}; }
  // True: consumers read the host's memory, so data that lies in the cache in a batch's form may
  // be given out in place.
  [[nodiscard]] virtual bool reads_host_memory() const noexcept = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<SlotMemory>> make_slot(const SlotBytes& size) = 0;
  // Memory of the host of which this device's slots borrow. Nothing: they borrow none.
  [[nodiscard]] virtual Result<std::optional<BorrowableMemory>> make_borrowable(
      std::size_t /*size_bytes*/) const {
    return std::optional<BorrowableMemory>();
  }
  // Describes the device, and what its slots hold of its memory, in words; empty for the CPU.
  [[nodiscard]] virtual std::string facts() const { return {}; }
  // The requests that the system refused, in words; empty: none.
  [[nodiscard]] virtual std::string shortfall() const = 0;
};

// Adds a name to Device::open() while this object lives; tests use it for their own devices.
class AddedDevice {
 public:
  using Open = std::function<Result<std::shared_ptr<Device>>(const DeviceOptions& options)>;
  AddedDevice(std::string name, Open open);
  ~AddedDevice();
  AddedDevice(const AddedDevice&) = delete;
  AddedDevice& operator=(const AddedDevice&) = delete;

 private:
  std::string name_;
};

}  // namespace xtts::device
