// AdversarialDevice: a device for tests that keeps its promises (device.hpp) as badly as it may.
//
// - The host cannot touch its memory: a thread that does dies of SIGSEGV.
// - Its own thread copies late and in any order, in pieces, of several slots in turn. It makes some
//   copies only when somebody waits for them.
// - It overwrites staging memory when this was copied, and device memory before.
// - A seed decides all this, except what the timing of threads adds.
//
// A forbidden act is a fault, and faults() has it in words: writing to a slot outside of
// begin_filling() and upload(), or to bytes, borrowed ones too, that are not copied yet; filling a
// lent slot; reading before the event or after the lease; ending a lease twice; leaving slots
// behind.
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
  // The call that fails with kResource, counted from 1 over all slots. 0: none.
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

  // A device of a kind that nothing else has.
  static constexpr DeviceId kId{DeviceKind{12}, 3};

  [[nodiscard]] DeviceId id() const noexcept override { return kId; }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return false; }
  [[nodiscard]] Result<std::unique_ptr<device::SlotMemory>> make_slot(
      const device::SlotBytes& size) override;
  [[nodiscard]] Result<std::optional<device::BorrowableMemory>> make_borrowable(
      std::size_t size_bytes) const override;
  [[nodiscard]] std::string shortfall() const override { return {}; }

  // Reads device memory. A fault where the host has not waited for the event.
  [[nodiscard]] std::vector<std::byte> copy_to_host(const std::byte* address,
                                                    std::size_t size_bytes) const;

  [[nodiscard]] std::uintptr_t make_stream();
  // Calls `work` at some time, in the stream's order, with the bytes that lie there then. A fault
  // where the stream does not wait for the event, or the slot was filled again.
  using Work = std::function<void(std::vector<std::byte> bytes)>;
  void launch(std::uintptr_t stream, const std::byte* address, std::size_t size_bytes, Work work);
  void finish(std::uintptr_t stream);

  // The faults so far. A slot that still exists is no fault yet.
  [[nodiscard]] std::vector<std::string> faults() const;
  [[nodiscard]] std::size_t slot_count() const;

 private:
  friend class AdversarialSlot;
  struct State;
  explicit AdversarialDevice(const AdversaryOptions& options);
  std::unique_ptr<State> state_;
};

}  // namespace xtts::testing
