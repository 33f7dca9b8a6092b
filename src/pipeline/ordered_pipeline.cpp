#include "pipeline/ordered_pipeline.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "base/run_on_threads.hpp"

namespace xtts::pipeline {
namespace {

// The state that the threads share. A thread with nothing to do waits until another thread changes
// it.
class OrderedRun {
 public:
  OrderedRun(OrderedWork& work, std::size_t in_flight)
      : work_(work), is_computed_(std::max<std::size_t>(in_flight, 1), 0) {}

  // One thread's part of the work. It returns when the run is at its end.
  void run() noexcept {
    std::unique_lock lock(mutex_);
    while (failure_ == nullptr && !(is_at_end_ && first_ == end_)) {
      if (can_commit()) {
        commit(lock);
      } else if (can_give()) {
        if (give(lock)) compute(lock, end_ - 1);
      } else {
        changed_.wait(lock);
      }
    }
    changed_.notify_all();
  }

  void rethrow_failure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  // Runs one step of the work without the lock. An exception in the step ends the run.
  template <typename Step>
  void run_step(std::unique_lock<std::mutex>& lock, Step step) noexcept {
    lock.unlock();
    std::exception_ptr failure;
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure != nullptr && failure_ == nullptr) failure_ = failure;
    changed_.notify_all();
  }

  [[nodiscard]] bool can_commit() const {
    return !is_committing_ && first_ < end_ && is_computed_[first_ % is_computed_.size()] != 0;
  }
  [[nodiscard]] bool can_give() const {
    return !is_at_end_ && !is_giving_ && end_ - first_ < is_computed_.size();
  }

  void commit(std::unique_lock<std::mutex>& lock) {
    is_committing_ = true;
    run_step(lock, [&, number = first_] { work_.commit(number); });
    is_committing_ = false;
    is_computed_[first_ % is_computed_.size()] = 0;
    ++first_;
  }

  // Returns false if there was no number left.
  [[nodiscard]] bool give(std::unique_lock<std::mutex>& lock) {
    is_giving_ = true;
    std::optional<std::size_t> number;
    run_step(lock, [&] { number = work_.next(); });
    is_giving_ = false;
    if (!number) {
      is_at_end_ = true;
      return false;
    }
    if (!has_begun_) first_ = *number;
    has_begun_ = true;
    end_ = *number + 1;
    return true;
  }

  void compute(std::unique_lock<std::mutex>& lock, std::size_t number) {
    run_step(lock, [&] { work_.compute(number); });
    is_computed_[number % is_computed_.size()] = 1;
  }

  OrderedWork& work_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::uint8_t> is_computed_;  // by number % in_flight: computed but not committed
  std::size_t first_ = 0;                  // the oldest number that is not committed
  std::size_t end_ = 0;                    // behind the number given out last
  bool has_begun_ = false;
  bool is_giving_ = false;
  bool is_committing_ = false;
  bool is_at_end_ = false;  // no more numbers come
  std::exception_ptr failure_;
};

}  // namespace

std::size_t run_ordered(OrderedWork& work, std::uint32_t thread_count, std::size_t in_flight) {
  OrderedRun run(work, in_flight);
  const std::size_t started = run_on_threads(thread_count, [&run] { run.run(); });
  run.rethrow_failure();
  return started;
}

}  // namespace xtts::pipeline
