// A slot of an AdversarialDevice: it notes what a loader does with it too early, too late or twice,
// as faults of the device.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "support/adversarial_state.hpp"

namespace xtts::testing {
namespace {

// An upload that nobody waits for is done after this time.
constexpr std::chrono::milliseconds kLazyFor{2};
constexpr int kUnfilled = 0xEE;

}  // namespace

class AdversarialSlot final : public device::SlotMemory {
 public:
  using Slot = AdversarialDevice::State::Slot;
  using Phase = AdversarialDevice::State::Phase;
  using Clock = AdversarialDevice::State::Clock;

  AdversarialSlot(std::shared_ptr<AdversarialDevice> device, device::HostMemory memory,
                  std::size_t staging_bytes, Slot& slot)
      : device_(std::move(device)),
        memory_(std::move(memory)),
        staging_bytes_(staging_bytes),
        slot_(slot),
        uploaded_(*this) {
    slot_.staging = memory_.bytes().first(staging_bytes_);
  }
  ~AdversarialSlot() override {
    std::unique_lock lock(state().mutex);
    if (slot_.is_lent) state().fault(slot_, "was destroyed while it was lent");
    slot_.is_lent = false;
    wait_until(lock, [&] { return state().is_idle(slot_); });
    for (auto& [handle, stream] : state().streams) {
      for (auto& task : stream.tasks) {
        if (task.slot == &slot_) task.slot = nullptr;
      }
    }
    std::erase_if(state().slots, [&](const auto& slot) { return slot.get() == &slot_; });
  }
  AdversarialSlot(const AdversarialSlot&) = delete;
  AdversarialSlot& operator=(const AdversarialSlot&) = delete;

  [[nodiscard]] const device::Device& device() const noexcept override { return *device_; }

  [[nodiscard]] Status begin_filling() override {
    std::unique_lock lock(state().mutex);
    if (slot_.phase == Phase::kFilling) return {};
    if (++state().fillings == state().options.failing_filling) {
      slot_.is_refused = true;
      return {StatusCode::kResource, "the adversarial device lost its stream"};
    }
    if (slot_.is_lent) {
      state().fault(slot_, "was filled again while it was lent");
      slot_.is_lent = false;
    }
    wait_until(lock, [&] { return state().is_idle(slot_); });
    if (slot_.phase == Phase::kFilling) return {};  // another filler came first meanwhile
    slot_.phase = Phase::kFilling;
    slot_.is_refused = false;
    slot_.filled.clear();
    slot_.readers.clear();
    return {};
  }
  [[nodiscard]] bool is_idle() const noexcept override {
    const std::scoped_lock lock(state().mutex);
    return state().is_idle(slot_);
  }
  [[nodiscard]] std::span<std::byte> staging() noexcept override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    return memory_.bytes().first(staging_bytes_);
  }
  void fill(std::size_t offset_bytes, std::size_t size_bytes,
            const device::Pattern& pattern) noexcept override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    if (size_bytes == 0) return;
    slot_.filled.push_back(
        {.offset_bytes = offset_bytes, .size_bytes = size_bytes, .pattern = pattern});
  }
  [[nodiscard]] bool change(std::size_t offset_bytes, std::size_t size_bytes,
                            const device::Change& change) override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    slot_.filled.push_back(
        {.offset_bytes = offset_bytes, .size_bytes = size_bytes, .change = change});
    return true;
  }
  [[nodiscard]] bool borrow(std::size_t offset_bytes, std::span<const std::byte> bytes) override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    const auto changed = std::ranges::find_if(slot_.filled, [&](const Piece& piece) {
      return piece.change && piece.offset_bytes == offset_bytes;
    });
    if (changed == slot_.filled.end()) {
      slot_.filled.push_back(
          {.offset_bytes = offset_bytes, .size_bytes = bytes.size(), .borrowed = bytes});
    } else {
      changed->borrowed = bytes;
    }
    return true;
  }
  [[nodiscard]] std::shared_ptr<const device::BorrowingEnd> borrowed_until() const override {
    const std::scoped_lock lock(state().mutex);
    if (slot_.phase != Phase::kUploaded) return nullptr;
    return std::make_shared<Borrowed>(device_, slot_.upload);
  }
  void discard() noexcept override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    slot_.filled.clear();
    std::memset(slot_.staging.data(), AdversarialDevice::State::kCopied, slot_.staging.size());
  }
  [[nodiscard]] std::span<std::byte> host() noexcept override {
    return memory_.bytes().subspan(align_up(staging_bytes_, device::kPageBytes));
  }
  [[nodiscard]] Result<const device::Event*> upload() override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    const std::uint64_t number = ++state().uploads;
    if (number == state().options.failing_upload) {
      return Status(StatusCode::kResource, "the adversarial device takes no copies");
    }
    slot_.phase = Phase::kUploaded;
    slot_.upload = number;
    slot_.is_lent = true;
    slot_.is_waited_for = slot_.is_wanted = false;
    slot_.lazy_until = Clock::now();
    if (state().below(2) == 0) slot_.lazy_until += kLazyFor;
    slot_.pending = state().cut(slot_);
    std::memset(slot_.memory->own().data(), kUnfilled, slot_.memory->own().size());
    state().changed.notify_all();
    return &uploaded_;
  }
  [[nodiscard]] const std::byte* consumer_data() const noexcept override {
    return slot_.memory->shown();
  }
  // The host's numbers stay on the host here: this device copies staging memory alone.
  [[nodiscard]] const std::byte* consumer_host_data() const noexcept override {
    return memory_.bytes().data() +
           device::host_offset_bytes({.staging = staging_bytes_, .host = 0});
  }
  void end_lease() noexcept override {
    const std::scoped_lock lock(state().mutex);
    if (slot_.phase == Phase::kFilling) {
      slot_.phase = Phase::kFree;  // the filling never became a batch
    } else if (!slot_.is_lent && !slot_.is_refused) {
      state().fault(slot_, "was given back twice");
    }
    slot_.is_lent = slot_.is_refused = false;
    for (auto& [stream, count] : slot_.readers) count = state().streams.at(stream).given_count;
  }

 private:
  class Uploaded final : public device::Event {
   public:
    explicit Uploaded(AdversarialSlot& slot) : owner_(slot) {}
    [[nodiscard]] Status wait() const override { return owner_.wait_for_upload(); }
    [[nodiscard]] Status let_wait(std::uintptr_t stream) const override {
      return owner_.let_wait(stream);
    }

   private:
    AdversarialSlot& owner_;
  };
  // The end of an upload's borrowing, also when the slot has gone.
  class Borrowed final : public device::BorrowingEnd {
   public:
    Borrowed(std::shared_ptr<AdversarialDevice> device, std::uint64_t upload)
        : device_(std::move(device)), upload_(upload) {}
    [[nodiscard]] Status wait() const override {
      AdversarialDevice::State& state = *device_->state_;
      std::unique_lock lock(state.mutex);
      for (const auto& slot : state.slots) {
        if (slot->upload == upload_) slot->is_wanted = true;
      }
      state.changed.notify_all();
      state.changed.wait(lock, [&] { return !state.has_borrowed(upload_); });
      return {};
    }
    [[nodiscard]] bool has_happened() const noexcept override {
      const std::scoped_lock lock(device_->state_->mutex);
      return !device_->state_->has_borrowed(upload_);
    }

   private:
    std::shared_ptr<AdversarialDevice> device_;
    std::uint64_t upload_;
  };

  [[nodiscard]] AdversarialDevice::State& state() const { return *device_->state_; }
  void check_is_filling() {
    if (slot_.phase != Phase::kFilling) {
      state().fault(slot_, "was written to outside of begin_filling() and upload()");
    }
  }
  template <typename IsSo>
  void wait_until(std::unique_lock<std::mutex>& lock, IsSo is_so) {
    slot_.is_wanted = true;
    state().changed.notify_all();
    state().changed.wait(lock, is_so);
  }
  [[nodiscard]] Status check_event() {
    if (slot_.phase != Phase::kUploaded) state().fault(slot_, "was waited for without an upload");
    if (slot_.upload == state().options.failing_event) {
      return {StatusCode::kResource, "the adversarial device lost a copy"};
    }
    return {};
  }
  [[nodiscard]] Status wait_for_upload() {
    std::unique_lock lock(state().mutex);
    XTTS_TRY(check_event());
    wait_until(lock, [&] { return slot_.pending.empty(); });
    slot_.is_waited_for = true;
    return {};
  }
  [[nodiscard]] Status let_wait(std::uintptr_t stream) {
    const std::scoped_lock lock(state().mutex);
    XTTS_TRY(check_event());
    const auto found = state().streams.find(stream);
    if (found == state().streams.end()) {
      return {StatusCode::kInvalidArgument, "the adversarial device has no such stream"};
    }
    ++found->second.given_count;
    found->second.tasks.push_back({.slot = &slot_, .upload = slot_.upload, .is_wait = true});
    slot_.readers[stream] = UINT64_MAX;  // until the lease ends
    state().changed.notify_all();
    return {};
  }

  std::shared_ptr<AdversarialDevice> device_;
  device::HostMemory memory_;
  std::size_t staging_bytes_;
  Slot& slot_;
  Uploaded uploaded_;
};

std::unique_ptr<device::SlotMemory> AdversarialDevice::State::make_slot_memory(
    std::shared_ptr<AdversarialDevice> device, device::HostMemory memory, std::size_t staging_bytes,
    Slot& slot) {
  return std::make_unique<AdversarialSlot>(std::move(device), std::move(memory), staging_bytes,
                                           slot);
}

}  // namespace xtts::testing
