#include "loader/ring.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/current_exception.hpp"
#include "base/fork_count.hpp"
#include "base/formatted.hpp"
#include "base/guarded_read.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

using Clock = Ring::Clock;

template <typename Call>
Status without_exceptions(Call call) noexcept {
  try {
    return call();
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace

// One batch on its way to the consumer.
struct Ring::Entry {
  BatchSlot slot;
  bool has_begun = false;
  bool is_ready = false;
  std::uint32_t next_part = 0;
  std::uint32_t parts_done = 0;

  [[nodiscard]] bool has_open_part() const { return has_begun && next_part < slot.part_count; }
  void end_lease() noexcept {
    if (slot.memory != nullptr) slot.memory->end_lease();
  }
};

struct Ring::State {
  std::mutex mutex;  // guards everything here, except the slots that threads work on
  std::condition_variable for_fillers;
  std::condition_variable for_consumer;
  std::condition_variable for_rest;  // pause() waits here until no thread works
  std::vector<std::unique_ptr<device::SlotMemory>> memories;
  // The memory that came back last is taken first: it is still in the processor's cache. Copying
  // into two memories in turn is as fast as into one. Into four it was 27 % slower (AMD EPYC,
  // batches of 8 MiB, 32 MiB of L3).
  // A device may still read a memory that came back. So the last idle one is taken; if none is
  // idle, the one that came back first.
  std::vector<device::SlotMemory*> free_memories;
  std::vector<std::unique_ptr<Entry>> entries;  // one more than memories, for the batch begun ahead
  std::vector<Entry*> free_entries;
  // Batches that have begun and were not handed out. No list here grows beyond its first capacity:
  // nothing allocates under the lock.
  std::vector<Entry*> in_order;
  std::uint64_t next_step = 0;
  std::uint64_t end_step = 0;
  std::size_t lent_count = 0;       // memories that the consumer holds
  std::uint32_t working_count = 0;  // threads that work on a slot now
  bool is_paused = true;            // no batch is begun, and no part taken
  bool is_stopping = false;
  bool is_interrupted = false;  // from interrupt() until next() has returned kCancelled
  RingWaits waits;
  std::uint32_t forks = fork_count();  // when the ring was made

  [[nodiscard]] device::SlotMemory* take_memory() {
    const auto last_idle = std::find_if(free_memories.rbegin(), free_memories.rend(),
                                        [](const auto* memory) { return memory->is_idle(); });
    const auto taken =
        last_idle == free_memories.rend() ? free_memories.begin() : std::next(last_idle).base();
    device::SlotMemory* const memory = *taken;
    free_memories.erase(taken);
    return memory;
  }
  // Frees an entry whose lease has ended.
  void make_free(Entry* entry) {
    // A free slot must keep no mappings and blocks alive.
    entry->slot.in_place.clear();
    for (Places& places : entry->slot.records.places) places.clear();
    if (entry->slot.memory != nullptr) free_memories.push_back(entry->slot.memory);
    entry->slot.memory = nullptr;
    free_entries.push_back(entry);
  }
  void give_back(Entry* entry) {
    if (fork_count() != forks)
      return;  // we are a forked child: no thread fills slots here, and the lock may be held
    // Waking a filler for every batch costs in-place readers 10 %. We wake one only when half of
    // the slots are free, or half of those that the consumer does not hold: it may never give those
    // back. A consumer that finds no batch in work begins it itself.
    bool is_worth_waking = false;
    entry->end_lease();
    {
      const std::scoped_lock lock(mutex);
      if (entry->slot.memory != nullptr) --lent_count;
      make_free(entry);
      const std::size_t going_round = memories.size() - lent_count;
      is_worth_waking =
          free_memories.size() >= std::min(memories.size() / 2, (going_round + 1) / 2);
    }
    if (is_worth_waking) for_fillers.notify_one();
  }

  // Drops batches that were not handed out. Only while no thread works.
  void drop_batches() {
    for (Entry* entry : in_order) {
      entry->end_lease();
      make_free(entry);
    }
    in_order.clear();
  }

  // One batch is begun ahead of those that have memory. So no thread waits for a batch to begin,
  // and memory is bound as late as possible.
  [[nodiscard]] bool should_begin() const {
    return !is_paused && next_step < end_step && !free_entries.empty() &&
           (in_order.empty() || in_order.back()->slot.memory != nullptr ||
            in_order.back()->is_ready);
  }
  // The oldest batch that has parts left, if it has memory or can have it.
  [[nodiscard]] Entry* find_open_part() {
    if (is_paused) return nullptr;
    for (Entry* entry : in_order) {
      if (!entry->has_open_part()) continue;
      const bool may_be_filled = entry->slot.memory != nullptr || !free_memories.empty();
      return may_be_filled ? entry : nullptr;
    }
    return nullptr;
  }
  // The consumer holds all memory, and no batch is ready or has memory.
  [[nodiscard]] bool is_every_slot_held() const {
    return free_memories.empty() &&
           (in_order.empty() ||
            (in_order.front()->slot.memory == nullptr && !in_order.front()->is_ready));
  }
  [[nodiscard]] bool wants_memory() const {
    return free_memories.empty() && !in_order.empty() && in_order.back()->has_begun &&
           in_order.back()->slot.memory == nullptr;
  }
};

Ring::Ring(BatchWork& work, std::vector<std::unique_ptr<device::SlotMemory>> memories,
           std::uint32_t thread_count, Consumer consumer)
    : work_(work), consumer_(consumer), state_(std::make_shared<State>()) {
  state_->memories = std::move(memories);
  for (const auto& memory : state_->memories) state_->free_memories.push_back(memory.get());
  for (std::size_t i = 0; i <= state_->memories.size(); ++i) {
    state_->entries.push_back(std::make_unique<Entry>());
    state_->free_entries.push_back(state_->entries.back().get());
  }
  state_->in_order.reserve(state_->entries.size());
  try {
    while (threads_.size() < thread_count) threads_.emplace_back([this] { run(); });
  } catch (...) {
    stop();  // the threads that have started
    throw;
  }
}

Ring::~Ring() {
  stop();
  const std::scoped_lock lock(state_->mutex);
  state_->drop_batches();
}

void Ring::stop() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_stopping = true;
  }
  state_->for_fillers.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Ring::run() {
  block_process_signals();
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  while (!state.is_stopping) {
    if (state.should_begin()) {
      begin_batch(lock);
    } else if (Entry* const entry = state.find_open_part(); entry != nullptr) {
      fill_part(lock, *entry);
    } else {
      const bool is_held_up = state.wants_memory();
      const Clock::time_point begin = Clock::now();
      state.for_fillers.wait(lock);
      if (is_held_up) state.waits.fillers += Clock::now() - begin;
    }
  }
}

// Runs `call` without the lock. The slot keeps its first failure.
template <typename Call>
void Ring::work_on(std::unique_lock<std::mutex>& lock, Entry& entry, Call call) {
  ++state_->working_count;
  lock.unlock();
  Status status = without_exceptions(call);
  lock.lock();
  if (--state_->working_count == 0) state_->for_rest.notify_all();
  if (!status.ok() && entry.slot.failure.ok()) entry.slot.failure = std::move(status);
}

void Ring::begin_batch(std::unique_lock<std::mutex>& lock) {
  State& state = *state_;
  Entry& fresh = *state.free_entries.back();
  state.free_entries.pop_back();
  const std::uint64_t step = state.next_step++;
  fresh.has_begun = fresh.is_ready = false;
  fresh.next_part = fresh.parts_done = 0;
  fresh.slot.failure = Status();
  state.in_order.push_back(&fresh);
  work_on(lock, fresh, [&] { return work_.begin(fresh.slot, step); });
  fresh.has_begun = true;
  if (!fresh.slot.failure.ok()) {
    fresh.next_part = fresh.slot.part_count;
    fresh.is_ready = true;
  }
  state.for_consumer.notify_one();  // the consumer may wait for this batch, or for a part to fill
  state.for_fillers.notify_one();
}

void Ring::fill_part(std::unique_lock<std::mutex>& lock, Entry& entry) {
  if (entry.slot.memory == nullptr) entry.slot.memory = state_->take_memory();
  const std::uint32_t part = entry.next_part++;
  state_->for_fillers.notify_one();  // to fill another part, or to begin the following batch
  work_on(lock, entry, [&]() -> Status {
    Status status = entry.slot.memory->begin_filling();
    if (status.ok()) return work_.fill_part(entry.slot, part);
    work_.drop_part(entry.slot, part);
    return status;
  });
  if (++entry.parts_done < entry.slot.part_count) return;
  if (entry.slot.failure.ok()) {
    work_on(lock, entry, [&] { return work_.finish(entry.slot); });
  }
  if (!entry.slot.failure.ok()) {
    work_on(lock, entry, [&] {
      work_.drop(entry.slot);
      return Status();
    });
  }
  entry.is_ready = true;
  state_->for_consumer.notify_one();
}

void Ring::pause() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.is_paused = true;
  state.for_rest.wait(lock, [&] { return state.working_count == 0; });
  state.drop_batches();
}

void Ring::resume(std::uint64_t first_step, std::uint64_t end_step) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_paused = false;
    state_->next_step = first_step;
    state_->end_step = end_step;
  }
  state_->for_fillers.notify_all();
}

void Ring::extend(std::uint64_t end_step) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->end_step = end_step;
  }
  state_->for_fillers.notify_all();
}

void Ring::interrupt() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_interrupted = true;
  }
  state_->for_consumer.notify_all();
}

Result<std::optional<Lease>> Ring::next(std::optional<Clock::time_point> until) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (state.is_paused) return Status(StatusCode::kInternal, "the reader was not started again");
  if (state.in_order.empty() && state.next_step >= state.end_step) return std::optional<Lease>();
  if (state.is_every_slot_held()) {
    return Status(StatusCode::kBusy, formatted("all {} batch slots are held: release earlier "
                                               "batches, copy what you keep, or ask for more slots",
                                               state.memories.size()));
  }
  const Clock::time_point begin = Clock::now();
  // The consumer does not sleep, but helps with the batch that it waits for. Where all cores are
  // filling, a sleeping consumer is woken late and finds several batches at once.
  while (state.in_order.empty() || !state.in_order.front()->is_ready || state.is_interrupted) {
    if (std::exchange(state.is_interrupted, false)) {
      return Status(StatusCode::kCancelled, "interrupted: the batch comes with the next call");
    }
    if (until) {
      state.for_fillers.notify_all();
      if (state.for_consumer.wait_until(lock, *until) == std::cv_status::timeout &&
          Clock::now() >= *until &&
          !(!state.in_order.empty() && state.in_order.front()->is_ready)) {
        state.waits.consumer += Clock::now() - begin;
        return Status(StatusCode::kCancelled,
                      "no batch within the time limit: it comes with a later call");
      }
    } else if (consumer_ == Consumer::kWaits) {
      state.for_fillers.notify_all();
      state.for_consumer.wait(lock);
    } else if (state.in_order.empty() && state.should_begin()) {
      begin_batch(lock);
    } else if (Entry* const entry = state.find_open_part();
               entry != nullptr && entry == state.in_order.front()) {
      fill_part(lock, *entry);
    } else {
      state.for_consumer.wait(lock);
    }
  }
  state.waits.consumer += Clock::now() - begin;
  Entry* const entry = state.in_order.front();
  state.in_order.erase(state.in_order.begin());
  if (entry->slot.memory != nullptr) ++state.lent_count;
  if (!entry->slot.failure.ok()) {
    Status failure = std::move(entry->slot.failure);
    lock.unlock();
    state.give_back(entry);
    return failure;
  }
  lock.unlock();
  // Where memory is lacking for the lease, its deleter has given the slot back.
  std::optional<Lease> lease;
  const Status status = without_exceptions([&] {
    lease.emplace(&entry->slot,
                  [owner = state_, entry](const BatchSlot*) { owner->give_back(entry); });
    return Status();
  });
  if (!status.ok()) return status;
  return lease;
}

RingWaits Ring::waits() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->waits;
}

}  // namespace xtts::loader
