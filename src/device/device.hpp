// Device: where batches are consumed, and the memory that carries them there. The one seam between
// the loader and the hardware: nothing above it knows more than these calls. README.md has the way
// of the data.
//
// "cpu" is a device like any other: the consumer reads the very memory that was filled, and every
// event has come to pass. On a GPU, staging memory is page-locked, and upload() copies on a stream
// of the slot's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "xtts/device_id.hpp"
#include "xtts/status.hpp"

namespace xtts::device {

class Device;

// One element, repeated: the lowest `element_bytes` bytes of `bits`.
struct Pattern {
  std::uint64_t bits = 0;
  std::size_t element_bytes = 4;  // 1, 2, 4 or 8
};

// The end of an upload. Any number of threads. Failures: kResource, of the upload.
class Event {
 public:
  virtual ~Event() = default;
  // Returns when it has come to pass.
  [[nodiscard]] virtual Status wait() const = 0;
  // Returns at once: what this stream of the device is given from now on runs after the event.
  // `stream` is its handle as DLPack has it. A device without streams has nothing to wait for.
  [[nodiscard]] virtual Status let_wait(std::uintptr_t stream) const = 0;
};

// Memory of one batch. It goes round:
//
//   begin_filling()   every filler before its first write; the first waits until nobody uses it
//   staging() fill()  fillers write, several threads, each its own bytes
//   host()            likewise
//   upload()          one thread, once; nobody writes any more
//   wait on the event, read at consumer_data() and host()
//   end_lease()       nobody begins to read any more
//
// To destroy it waits for what is under way. Failures: kResource.
class SlotMemory {
 public:
  virtual ~SlotMemory() = default;

  [[nodiscard]] virtual const Device& device() const noexcept = 0;

  // Returns when the last upload is done, and all that the streams that were let wait for it had
  // been given until end_lease().
  [[nodiscard]] virtual Status begin_filling() = 0;
  // Whether begin_filling() would not have to wait.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
  // Where fillers write what the consumer is to find. Begins on a page. After upload() nobody reads
  // here either.
  [[nodiscard]] virtual std::span<std::byte> staging() noexcept = 0;
  // The consumer is to find the pattern in this range, whose ends lie on elements. It does not
  // cross a bus for that. Instead of writing to the range, by the filler whose range it is.
  virtual void fill(std::size_t offset_bytes, std::size_t size_bytes,
                    const Pattern& pattern) noexcept = 0;
  // Forgets what was written and filled since begin_filling(): all of it is done anew. One thread,
  // while nobody fills.
  virtual void discard() noexcept = 0;
  // What the host reads, on every device: written by fillers, and there until end_lease(). Begins
  // on a page.
  [[nodiscard]] virtual std::span<std::byte> host() noexcept = 0;
  // Begins to bring what was written and filled to consumer_data(). The event is the slot's own,
  // and of this upload until the slot is filled again.
  [[nodiscard]] virtual Result<const Event*> upload() = 0;
  // Where the consumer reads once the event has come to pass: as long as staging(), in the device's
  // own addresses.
  [[nodiscard]] virtual const std::byte* consumer_data() const noexcept = 0;
  // Does not wait. Any thread. Also where begin_filling() has failed and there is no batch.
  virtual void end_lease() noexcept = 0;
};

struct SlotBytes {
  std::size_t staging = 0;
  std::size_t host = 0;
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

  [[nodiscard]] virtual DeviceId id() const noexcept = 0;
  // Its consumers read the host's own memory: what lies in the cache as a batch would have it may
  // be handed out where it lies.
  [[nodiscard]] virtual bool reads_host_memory() const noexcept = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<SlotMemory>> make_slot(const SlotBytes& size) = 0;
  // What the system did not grant, in words; empty where all was.
  [[nodiscard]] virtual std::string shortfall() const = 0;
};

// A further name that Device::open() knows while this lives: how tests bring devices of their own.
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
