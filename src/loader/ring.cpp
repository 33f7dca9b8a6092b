#include "loader/ring.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>

namespace xtts::loader {
namespace {

using Clock = std::chrono::steady_clock;

template <typename Call>
Status without_exceptions(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return {StatusCode::kResource, "out of memory while a batch was filled"};
  } catch (const std::exception& error) {
    return {StatusCode::kInternal, error.what()};
  }
}

struct Entry {
  BatchSlot slot;
  bool has_begun = false;
  bool is_ready = false;
  std::uint32_t next_part = 0;
  std::uint32_t parts_done = 0;
};

}  // namespace

struct Ring::State {
  std::mutex mutex;  // guards everything here; a slot's content belongs to who works on it
  std::condition_variable for_fillers;
  std::condition_variable for_consumer;
  std::condition_variable for_rest;  // whoever waits for all threads to rest
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<Entry*> free;
  std::deque<Entry*> in_order;  // begun and not handed out
  std::uint64_t next_step = 0;
  std::uint64_t end_step = 0;
  std::uint32_t working_count = 0;  // threads that work on a slot just now
  bool is_stopping = false;
  RingWaits waits;

  void give_back(Entry* entry) {
    {
      const std::scoped_lock lock(mutex);
      entry->slot.in_place.clear();  // mappings are not kept for a free slot's sake
      free.push_back(entry);
    }
    for_fillers.notify_one();
  }

  [[nodiscard]] Entry* find_open_part(std::uint32_t part_count) const {
    for (Entry* entry : in_order) {
      if (entry->has_begun && entry->next_part < part_count) return entry;
    }
    return nullptr;
  }
  [[nodiscard]] bool can_begin() const { return next_step < end_step && !free.empty(); }
  [[nodiscard]] bool waits_for_slot() const { return next_step < end_step && free.empty(); }
};

Ring::Ring(BatchWork& work, std::vector<std::unique_ptr<gpu::SlotMemory>> slots,
           std::uint32_t thread_count)
    : work_(work), state_(std::make_shared<State>()) {
  for (auto& memory : slots) {
    state_->entries.push_back(std::make_unique<Entry>());
    state_->entries.back()->slot.memory = std::move(memory);
    state_->free.push_back(state_->entries.back().get());
  }
  for (std::uint32_t thread = 0; thread < thread_count; ++thread) {
    threads_.emplace_back([this, thread] { run(thread); });
  }
}

Ring::~Ring() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_stopping = true;
  }
  state_->for_fillers.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Takes whatever is to be done next: a part of the oldest batch that has one left, or a new batch.
void Ring::run(std::uint32_t thread) {
  State& state = *state_;
  const std::uint32_t part_count = work_.part_count();
  std::unique_lock lock(state.mutex);
  // Runs `call` without the lock; the slot's first failure is kept.
  const auto work_on = [&](Entry& entry, auto call) {
    ++state.working_count;
    lock.unlock();
    Status status = without_exceptions(call);
    lock.lock();
    if (--state.working_count == 0) state.for_rest.notify_all();
    if (!status.ok() && entry.slot.failure.ok()) entry.slot.failure = std::move(status);
  };
  while (!state.is_stopping) {
    if (Entry* const entry = state.find_open_part(part_count); entry != nullptr) {
      const std::uint32_t part = entry->next_part++;
      work_on(*entry, [&] { return work_.fill_part(entry->slot, part, thread); });
      if (++entry->parts_done == part_count) {
        if (entry->slot.failure.ok()) {
          work_on(*entry, [&] { return work_.finish(entry->slot); });
        }
        entry->is_ready = true;
        state.for_consumer.notify_one();
      }
    } else if (state.can_begin()) {
      Entry* const fresh = state.free.back();
      state.free.pop_back();
      const std::uint64_t step = state.next_step++;
      fresh->has_begun = fresh->is_ready = false;
      fresh->next_part = fresh->parts_done = 0;
      fresh->slot.failure = Status();
      state.in_order.push_back(fresh);
      work_on(*fresh, [&] { return work_.begin(fresh->slot, step); });
      fresh->has_begun = true;
      if (!fresh->slot.failure.ok()) {
        fresh->next_part = fresh->parts_done = part_count;
        fresh->is_ready = true;
        state.for_consumer.notify_one();
      }
      state.for_fillers.notify_all();
    } else {
      const bool is_held_up = state.waits_for_slot();
      const Clock::time_point begin = Clock::now();
      state.for_fillers.wait(lock);
      if (is_held_up) state.waits.fillers += Clock::now() - begin;
    }
  }
}

void Ring::pause() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.end_step = state.next_step;
  // No part is taken from here on: batches that nobody will see are not finished.
  for (Entry* entry : state.in_order) entry->next_part = work_.part_count();
  state.for_rest.wait(lock, [&] { return state.working_count == 0; });
  for (Entry* entry : state.in_order) {
    entry->slot.in_place.clear();
    state.free.push_back(entry);
  }
  state.in_order.clear();
}

void Ring::resume(std::uint64_t first_step, std::uint64_t end_step) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->next_step = first_step;
    state_->end_step = end_step;
  }
  state_->for_fillers.notify_all();
}

Result<std::optional<Lease>> Ring::next() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (state.in_order.empty()) {
    if (state.next_step >= state.end_step) return std::optional<Lease>();
    if (state.free.empty()) {
      return Status(StatusCode::kBusy, "all " + std::to_string(state.entries.size()) +
                                           " batch slots are held: let go of earlier batches, copy "
                                           "what is to be kept, or ask for more slots");
    }
  }
  const Clock::time_point begin = Clock::now();
  state.for_consumer.wait(
      lock, [&] { return !state.in_order.empty() && state.in_order.front()->is_ready; });
  state.waits.consumer += Clock::now() - begin;
  Entry* const entry = state.in_order.front();
  state.in_order.pop_front();
  if (!entry->slot.failure.ok()) {
    Status failure = std::move(entry->slot.failure);
    lock.unlock();
    state.give_back(entry);
    return failure;
  }
  lock.unlock();
  return std::optional<Lease>(
      Lease(&entry->slot, [owner = state_, entry](const BatchSlot*) { owner->give_back(entry); }));
}

RingWaits Ring::waits() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->waits;
}

}  // namespace xtts::loader
