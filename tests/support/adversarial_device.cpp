#include "support/adversarial_device.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "device/host_memory.hpp"
#include "support/adversarial_state.hpp"

namespace xtts::testing {

std::shared_ptr<AdversarialDevice> AdversarialDevice::make(const AdversaryOptions& options) {
  return std::shared_ptr<AdversarialDevice>(new AdversarialDevice(options));
}

AdversarialDevice::AdversarialDevice(const AdversaryOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->random.seed(options.seed);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

AdversarialDevice::~AdversarialDevice() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

Result<std::unique_ptr<device::SlotMemory>> AdversarialDevice::make_slot(
    const device::SlotBytes& size) {
  XTTS_ASSIGN(auto memory, device::HostMemory::allocate(align_up(size.staging, device::kPageBytes) +
                                                        std::max<std::size_t>(size.host, 1)));
  auto slot = std::make_unique<State::Slot>();
  slot->memory = std::make_unique<ClosedMemory>(size.staging);
  const std::scoped_lock lock(state_->mutex);
  if (!slot->memory->is_there() || ++state_->slots_made == state_->options.failing_slot) {
    return Status(StatusCode::kResource, "the adversarial device has no more memory");
  }
  slot->number = state_->slots_made;
  state_->slots.push_back(std::move(slot));
  return State::make_slot_memory(shared_from_this(), std::move(memory), size.staging,
                                 *state_->slots.back());
}

std::vector<std::byte> AdversarialDevice::copy_to_host(const std::byte* address,
                                                       std::size_t size_bytes) const {
  const std::scoped_lock lock(state_->mutex);
  const State::Slot* const slot = state_->find(address);
  if (slot == nullptr) {
    state_->faults.emplace_back("an address is read that is none of the device's");
    return std::vector<std::byte>(size_bytes);
  }
  if (!slot->is_lent) {
    state_->fault(*slot, "is read after its lease");
  } else if (!slot->is_waited_for) {
    state_->fault(*slot, "is read before its event was waited for");
  }
  return state_->bytes_at(*slot, address, size_bytes);
}

Result<std::optional<device::BorrowableMemory>> AdversarialDevice::make_borrowable(
    std::size_t size_bytes) const {
  XTTS_ASSIGN(auto memory,
              device::HostMemory::allocate(size_bytes, {.is_kept_from_children = true}));
  return std::optional<device::BorrowableMemory>(std::in_place, std::move(memory));
}

std::uintptr_t AdversarialDevice::make_stream() {
  const std::scoped_lock lock(state_->mutex);
  const std::uintptr_t handle = state_->streams.size() + 1;
  state_->streams[handle];
  return handle;
}

void AdversarialDevice::launch(std::uintptr_t stream, const std::byte* address,
                               std::size_t size_bytes, Work work) {
  const std::scoped_lock lock(state_->mutex);
  State::Slot* const slot = state_->find(address);
  if (slot == nullptr || !slot->is_lent) {
    state_->faults.emplace_back("work is queued that reads what nobody holds");
    return;
  }
  State::Stream& queue = state_->streams.at(stream);
  ++queue.given_count;
  queue.tasks.push_back(
      {.slot = slot,
       .upload = slot->upload,
       .address = address,
       .size_bytes = size_bytes,
       .work = std::move(work),
       .not_before = State::Clock::now() + std::chrono::microseconds(state_->below(1500))});
  state_->changed.notify_all();
}

void AdversarialDevice::finish(std::uintptr_t stream) {
  std::unique_lock lock(state_->mutex);
  const State::Stream& queue = state_->streams.at(stream);
  state_->changed.wait(lock, [&] { return queue.done_count == queue.given_count; });
}

std::vector<std::string> AdversarialDevice::faults() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->faults;
}

std::size_t AdversarialDevice::slot_count() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->slots.size();
}

}  // namespace xtts::testing
