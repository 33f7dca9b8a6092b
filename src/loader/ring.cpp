#include "loader/ring.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "base/current_exception.hpp"
#include "base/fork_count.hpp"
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

// One batch on its way.
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
  std::mutex mutex;  // guards everything here; a slot's content belongs to who works on it
  std::condition_variable for_fillers;
  std::condition_variable for_consumer;
  std::condition_variable for_rest;  // whoever waits for all threads to rest
  std::vector<std::unique_ptr<device::SlotMemory>> memories;
  // The one that came back last is taken first: it is still in the processor's cache. Copying into
  // two memories in turn is as fast as into one; into three it was 13 % slower, into four 27 % (AMD
  // EPYC, batches of 8 MiB, 32 MiB of L3).
  // Where consumers read behind our back, it is the last one that nobody reads any more; and if
  // all are read, the one that came back first.
  std::vector<device::SlotMemory*> free_memories;
  std::vector<std::unique_ptr<Entry>> entries;  // one more than memories, for the batch begun ahead
  std::vector<Entry*> free_entries;
  // Begun and not handed out. Like the lists above it never grows beyond what it was made for:
  // under the lock nothing allocates.
  std::vector<Entry*> in_order;
  std::uint64_t next_step = 0;
  std::uint64_t end_step = 0;
  std::size_t lent_count = 0;       // memories that the consumer has
  std::uint32_t working_count = 0;  // threads that work on a slot just now
  bool is_paused = true;            // nothing is begun, no part is taken
  bool is_stopping = false;
  bool is_interrupted = false;  // by interrupt(), until a next() has said so
  RingWaits waits;
  std::uint32_t forks = fork_count();  // when it was made

  [[nodiscard]] device::SlotMemory* take_memory() {
    const auto last_idle = std::find_if(free_memories.rbegin(), free_memories.rend(),
                                        [](const auto* memory) { return memory->is_idle(); });
    const auto taken =
        last_idle == free_memories.rend() ? free_memories.begin() : std::next(last_idle).base();
    device::SlotMemory* const memory = *taken;
    free_memories.erase(taken);
    return memory;
  }
  // Of an entry whose lease has ended.
  void make_free(Entry* entry) {
    // Mappings and blocks are not kept for a free slot's sake.
    entry->slot.in_place.clear();
    for (Places& places : entry->slot.places) places.clear();
    if (entry->slot.memory != nullptr) free_memories.push_back(entry->slot.memory);
    entry->slot.memory = nullptr;
    free_entries.push_back(entry);
  }
  void give_back(Entry* entry) {
    if (fork_count() != forks)
      return;  // a child: nobody fills slots here, and the lock may be held
    // To be woken for each batch costs a reader of batches in place a tenth of its time. With a
    // batch in reserve nobody waits: and whoever wants one that nobody fills begins it himself.
    // What the consumer keeps may never come back: half of the others is enough.
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

  // Those that nobody was handed. While nobody works.
  void drop_batches() {
    for (Entry* entry : in_order) {
      entry->end_lease();
      make_free(entry);
    }
    in_order.clear();
  }

  // One batch is begun ahead of those that have memory, so that no thread waits for the beginning
  // of one, and memory is bound as late as can be.
  [[nodiscard]] bool should_begin() const {
    return !is_paused && next_step < end_step && !free_entries.empty() &&
           (in_order.empty() || in_order.back()->slot.memory != nullptr ||
            in_order.back()->is_ready);
  }
  // The oldest batch with work left that has memory, or can have it.
  [[nodiscard]] Entry* find_open_part() {
    if (is_paused) return nullptr;
    for (Entry* entry : in_order) {
      if (!entry->has_open_part()) continue;
      const bool may_be_filled = entry->slot.memory != nullptr || !free_memories.empty();
      return may_be_filled ? entry : nullptr;
    }
    return nullptr;
  }
  // All memory is with the consumer, and none of it is a batch that is still to be handed out.
  [[nodiscard]] bool is_all_lent() const {
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
    stop();  // those that have started
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

// Runs `call` without the lock; the slot's first failure is kept.
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
  state.for_consumer.notify_one();  // it may be waiting for this batch, or for a part of it to fill
  state.for_fillers.notify_one();
}

void Ring::fill_part(std::unique_lock<std::mutex>& lock, Entry& entry) {
  if (entry.slot.memory == nullptr) entry.slot.memory = state_->take_memory();
  const std::uint32_t part = entry.next_part++;
  state_->for_fillers.notify_one();  // to another part, or to begin the batch after this one
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
  if (state.is_all_lent()) {
    return Status(StatusCode::kBusy, "all " + std::to_string(state.memories.size()) +
                                         " batch slots are held: let go of earlier batches, copy "
                                         "what is to be kept, or ask for more slots");
  }
  const Clock::time_point begin = Clock::now();
  // Rather than sleep, the consumer lends a hand with the batch that it waits for: on a machine
  // whose cores are all filling, it would be woken late, and find several batches at once.
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
  // Where no memory is left for a lease, its deleter has given the slot back.
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
