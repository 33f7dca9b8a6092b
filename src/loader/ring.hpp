// Ring: threads that fill batch slots ahead of the consumer, in the order of the steps.
//
// All threads work on one batch at a time, a part each, and go on to the next while a slot is free.
// The consumer helps with the batch that it waits for, where the work allows that. So batches come
// at even intervals. With a thread for each batch, two would come at once and then none. The slots
// bound the memory: a slow consumer stops the fillers, and slow fillers make the consumer wait.
//
// A lease gives its slot back when its last copy goes, in any thread, even after the Ring has gone.
// A batch is handed out with its event (FinishedBatch::uploaded), and next() does not wait for it.
// Its memory is filled again once upload and consumer are done (device.hpp).
//
// One thread at a time calls next(), pause() and resume(). `work` must outlive the Ring, but leases
// do not need it. An exception in the work ends its batch as kResource or kInternal. Failures of
// next(): the batch's own, after which the next call goes on with the following batch; kBusy when
// the caller holds all slots; kCancelled.
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
  std::chrono::nanoseconds consumer{};  // waiting for a batch
  std::chrono::nanoseconds fillers{};   // waiting for a free slot, all threads together
};

// The consumer's behaviour while its batch is not ready.
enum class Consumer : std::uint8_t { kHelps, kWaits };

class Ring {
 public:
  // Begins no batch before resume(). Throws std::system_error where the system refuses a thread.
  Ring(BatchWork& work, std::vector<std::unique_ptr<device::SlotMemory>> memories,
       std::uint32_t thread_count, Consumer consumer = Consumer::kHelps);
  ~Ring();  // waits for work that has begun
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Returns when no thread works. Drops batches that were filled and not handed out.
  void pause();
  // Fills the steps [first, end) from now on. Only after pause(), or once at the beginning.
  void resume(std::uint64_t first_step, std::uint64_t end_step);

  // Moves the end of the steps. `end_step` is not below the end before.
  void extend(std::uint64_t end_step);

  using Clock = std::chrono::steady_clock;

  // Returns nothing at the end of the steps. kCancelled: interrupt() was called, or `until` has
  // passed. The batch comes with a later call then.
  // Without `until`, the caller may help to fill, and finishes the part that it has begun. With it,
  // the caller only waits, so that no slow disk holds it up.
  [[nodiscard]] Result<std::optional<Lease>> next(std::optional<Clock::time_point> until = {});
  // Ends the running call of next(), or else the next one, with kCancelled. From any thread.
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
