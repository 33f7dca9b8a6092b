// AdversarialDevice: a device for tests that keeps its promises (device.hpp) as badly as it may.
// Its memory is no memory of the host's: whoever touches it dies of SIGSEGV. Copies come late and
// in any order, in pieces, of several slots in turn, on a thread of its own; some not before
// somebody waits for them. Staging memory is scribbled over when it was copied, device memory
// before. A seed says how, but for what threads add.
//
// What somebody does who may not is a fault: to write to a slot outside of begin_filling() and
// upload(), or to what is not copied yet; to fill what is lent; to read before the event, or after
// the lease; to end a lease twice; slots that are left. faults() has them in words.
//
// Tests are its consumers: copy_to_host() reads for the host, launch() on a stream of the device.
// Synchronised inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace xtts::testing {

struct AdversaryOptions {
  std::uint64_t seed = 0;
  // Which call fails with kResource, counted from 1 over all slots.
  std::uint64_t failing_slot = 0;
  std::uint64_t failing_filling = 0;
  std::uint64_t failing_upload = 0;
  std::uint64_t failing_event = 0;  // the event of this upload
};

class AdversarialDevice final : public device::Device,
                                public std::enable_shared_from_this<AdversarialDevice> {
 public:
  [[nodiscard]] static std::shared_ptr<AdversarialDevice> make(const AdversaryOptions& options);
  ~AdversarialDevice() override;
  AdversarialDevice(const AdversarialDevice&) = delete;
  AdversarialDevice& operator=(const AdversarialDevice&) = delete;

  // One of its kind.
  static constexpr DeviceId kId{DeviceKind{12}, 3};

  [[nodiscard]] DeviceId id() const noexcept override { return kId; }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return false; }
  [[nodiscard]] Result<std::unique_ptr<device::SlotMemory>> make_slot(
      const device::SlotBytes& size) override;
  [[nodiscard]] std::string shortfall() const override { return {}; }

  // What lies there. A fault if the host has not waited for the event.
  [[nodiscard]] std::vector<std::byte> copy_to_host(const std::byte* address,
                                                    std::size_t size_bytes) const;

  [[nodiscard]] std::uintptr_t make_stream();
  // Calls `work` some time, in the order of the stream, with what lies there then. A fault if the
  // stream was not let wait for the event, or the slot was filled again.
  using Work = std::function<void(std::vector<std::byte> bytes)>;
  void launch(std::uintptr_t stream, const std::byte* address, std::size_t size_bytes, Work work);
  void finish(std::uintptr_t stream);

  // So far; slots that there are still are none yet.
  [[nodiscard]] std::vector<std::string> faults() const;
  [[nodiscard]] std::size_t slot_count() const;

 private:
  friend class AdversarialSlot;
  struct State;
  explicit AdversarialDevice(const AdversaryOptions& options);
  std::unique_ptr<State> state_;
};

}  // namespace xtts::testing
