// AdversarialDevice's state: its slots and streams, the copies and the work that they wait for, and
// the faults. The device's own thread does copies and work late and in any order
// (adversarial_state.cpp). Only the sources of the device include this.
//
// The device's mutex guards all of it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/checked.hpp"
#include "device/host_memory.hpp"
#include "support/adversarial_device.hpp"

namespace xtts::testing {

// ClosedMemory maps the same pages twice. The consumer sees one mapping, which nobody may touch.
// The device itself uses the other one.
class ClosedMemory {
 public:
  explicit ClosedMemory(std::size_t size_bytes)
      : size_bytes_(align_up(std::max<std::size_t>(size_bytes, 1), device::kPageBytes)) {
    const int fd = ::memfd_create("adversarial", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_bytes_)) != 0) return;
    shown_ = ::mmap(nullptr, size_bytes_, PROT_NONE, MAP_SHARED, fd, 0);
    own_ = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
  }
  ~ClosedMemory() {
    ::munmap(shown_, size_bytes_);
    ::munmap(own_, size_bytes_);
  }
  ClosedMemory(const ClosedMemory&) = delete;
  ClosedMemory& operator=(const ClosedMemory&) = delete;

  [[nodiscard]] bool is_there() const { return shown_ != MAP_FAILED && own_ != MAP_FAILED; }
  [[nodiscard]] const std::byte* shown() const { return static_cast<const std::byte*>(shown_); }
  [[nodiscard]] std::span<std::byte> own() const {
    return {static_cast<std::byte*>(own_), size_bytes_};
  }
  [[nodiscard]] bool shows(const std::byte* address) const {
    return address >= shown() && address < shown() + size_bytes_;
  }

 private:
  std::size_t size_bytes_;
  void* shown_ = MAP_FAILED;
  void* own_ = MAP_FAILED;
};

// A part of an upload: the device fills, changes or copies it in one step.
struct Piece {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
  std::optional<device::Pattern> pattern = {};  // nothing: the piece is copied, or changed
  std::optional<device::Change> change = {};    // size_bytes are those at the consumer's side
  std::span<const std::byte> borrowed = {};     // where they lie, if not in the slot
  std::uint64_t hash = 0;                       // of the bytes to be copied
};

struct AdversarialDevice::State {
  using Clock = std::chrono::steady_clock;
  // Staging memory holds this byte after its copy.
  static constexpr int kCopied = 0xA5;

  enum class Phase : std::uint8_t { kFree, kFilling, kUploaded };
  struct Slot {
    std::size_t number = 0;
    std::unique_ptr<ClosedMemory> memory;
    std::span<std::byte> staging;
    Phase phase = Phase::kFree;
    std::vector<Piece> filled;   // pieces of fill(), change() and borrow() since begin_filling()
    std::vector<Piece> pending;  // pieces of the upload that are not done
    std::uint64_t upload = 0;    // the upload's number among all; 0: there was none
    bool is_wanted = false;      // somebody waits for the upload
    Clock::time_point lazy_until;
    bool is_lent = false;
    bool is_refused = false;     // begin_filling() has failed
    bool is_waited_for = false;  // the host has waited
    // Streams that wait for the event, and how many tasks each had at the end of the lease.
    std::map<std::uintptr_t, std::uint64_t> readers;
  };
  struct Task {
    Slot* slot = nullptr;  // null: the slot was destroyed meanwhile
    std::uint64_t upload = 0;
    bool is_wait = false;  // the task waits for that upload; else it is work
    const std::byte* address = nullptr;
    std::size_t size_bytes = 0;
    Work work = {};
    Clock::time_point not_before = {};
  };
  struct Stream {
    std::deque<Task> tasks;
    std::uint64_t given_count = 0;
    std::uint64_t done_count = 0;
    std::map<const Slot*, std::uint64_t> waited;  // by slot: the upload that it has waited for
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  AdversaryOptions options;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Slot>> slots;
  std::map<std::uintptr_t, Stream> streams;
  std::vector<std::string> faults;
  std::uint64_t slots_made = 0, fillings = 0, uploads = 0;
  bool is_ending = false;
  std::thread thread;

  void fault(const Slot& slot, const std::string& what) {
    faults.push_back("slot " + std::to_string(slot.number) + " " + what);
  }
  [[nodiscard]] std::uint64_t below(std::uint64_t end) { return random() % end; }

  [[nodiscard]] bool is_read(const Slot& slot) const {
    return std::ranges::any_of(slot.readers, [&](const auto& reader) {
      return streams.at(reader.first).done_count < reader.second;
    });
  }
  [[nodiscard]] bool is_idle(const Slot& slot) const {
    return slot.phase != Phase::kUploaded ||
           (!slot.is_lent && slot.pending.empty() && !is_read(slot));
  }
  [[nodiscard]] Slot* find(const std::byte* address) const {
    const auto found =
        std::ranges::find_if(slots, [&](const auto& slot) { return slot->memory->shows(address); });
    return found == slots.end() ? nullptr : found->get();
  }
  [[nodiscard]] std::vector<std::byte> bytes_at(const Slot& slot, const std::byte* address,
                                                std::size_t size_bytes) const {
    const auto offset = static_cast<std::size_t>(address - slot.memory->shown());
    const auto some = slot.memory->own().subspan(offset, size_bytes);
    return {some.begin(), some.end()};
  }

  // The bytes of a piece that is copied or changed, wherever they lie.
  [[nodiscard]] static std::span<const std::byte> bytes_of(const Slot& slot, const Piece& piece);
  [[nodiscard]] bool has_borrowed(std::uint64_t upload) const {
    return std::ranges::any_of(slots, [&](const auto& slot) {
      return slot->upload == upload && std::ranges::any_of(slot->pending, [](const Piece& piece) {
               return !piece.borrowed.empty();
             });
    });
  }

  [[nodiscard]] bool is_due(const Slot& slot) const;
  [[nodiscard]] bool is_due(const Stream& stream) const;
  // The pieces of an upload: the filled ranges, and all bytes between them, cut anywhere.
  [[nodiscard]] std::vector<Piece> cut(const Slot& slot);
  void change_range(const Slot& slot, const Piece& piece, std::span<std::byte> out);
  // Does one piece of the slot's upload, chosen at random.
  void copy_one(Slot& slot);
  // Does the first task of a stream. Work is called without the lock.
  void run_one(std::unique_lock<std::mutex>& lock, std::uintptr_t handle);
  // Does one thing that is due, chosen at random. Returns false where nothing is due.
  bool step(std::unique_lock<std::mutex>& lock);
  void run();

  // Makes what a user of the device sees of a slot. Defined in adversarial_slot.cpp.
  [[nodiscard]] static std::unique_ptr<device::SlotMemory> make_slot_memory(
      std::shared_ptr<AdversarialDevice> device, device::HostMemory memory,
      std::size_t staging_bytes, Slot& slot);
};

}  // namespace xtts::testing
