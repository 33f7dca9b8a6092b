// Ring: threads that fill batch slots ahead of the consumer, in the order of the steps.
//
// All threads work on one batch at a time, a part each, and go on to the next while a slot is free;
// the consumer lends a hand with the batch that it waits for, where the work allows that. So
// batches come at even intervals, where a thread to a batch would bring two at once and then none.
// Memory is the slots, bounded; a slow consumer stops the fillers, slow fillers make it wait.
//
// A lease gives its slot back when its last copy goes, in any thread, also after the Ring has gone.
// A batch is handed out with its event (BatchSlot::uploaded), not waited for; its memory is filled
// again when upload and consumer are done (device.hpp).
// next(), pause() and resume(): one thread at a time. `work` must outlive the Ring (the slots do
// not need it). Exceptions of the work end the batch as kResource or kInternal. Failures of next():
// the batch's own (the next call goes on with the batch after it), kBusy when the caller keeps all
// slots.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "loader/batch_slot.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

using Lease = std::shared_ptr<const BatchSlot>;

struct RingWaits {
  std::chrono::nanoseconds consumer{};  // for a batch
  std::chrono::nanoseconds fillers{};   // for a free slot, all threads together
};

// What a consumer does that has to wait for a batch.
enum class Consumer : std::uint8_t { kLendsAHand, kWaits };

class Ring {
 public:
  // Makes no batch before resume(). Throws std::system_error where the system refuses a thread.
  Ring(BatchWork& work, std::vector<std::unique_ptr<device::SlotMemory>> memories,
       std::uint32_t thread_count, Consumer consumer = Consumer::kLendsAHand);
  ~Ring();  // waits for what is in hand
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Returns when no thread works; what was filled and not handed out is dropped.
  void pause();
  // Fills the steps [first, end) from now on. Only after pause(), or once.
  void resume(std::uint64_t first_step, std::uint64_t end_step);

  // The steps go on to this end from now on; not below the one before.
  void extend(std::uint64_t end_step);

  using Clock = std::chrono::steady_clock;

  // Nothing: the steps are at their end. kCancelled: interrupt() was called, or `until` is past;
  // the batch comes with a later call. Without `until` the caller may lend a hand, and what it has
  // in hand is ended first; with it the caller only waits, so that no slow disk holds it up.
  [[nodiscard]] Result<std::optional<Lease>> next(std::optional<Clock::time_point> until = {});
  // Any thread: the call of next() that runs, or else the next one, ends with kCancelled.
  void interrupt();

  [[nodiscard]] RingWaits waits() const;

 private:
  struct Entry;
  struct State;
  void stop();
  void run();
  template <typename Call>
  void work_on(std::unique_lock<std::mutex>& lock, Entry& entry, Call call);
  void begin_batch(std::unique_lock<std::mutex>& lock);
  void fill_part(std::unique_lock<std::mutex>& lock, Entry& entry);

  BatchWork& work_;
  const Consumer consumer_;
  std::shared_ptr<State> state_;  // shared with leases
  std::vector<std::thread> threads_;
};

}  // namespace xtts::loader
