// Scheduler: does the tasks of all streams, late, in pieces, by several threads. A task begins when
// all tasks that it needs are done. The seed chooses between those that may go on.
//
// The driver's mutex guards everything here; pieces run without it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/cuda_driver/clock.hpp"

namespace xtts::testing::fake_cuda {

// A part of a task's work. Returns a fault in words; empty: none.
using Piece = std::function<std::string()>;

struct Task {
  Stamp stamp;
  Clock clock;  // all that is over when the task is; the task itself, too
  std::shared_ptr<const std::string> name;
  std::vector<std::shared_ptr<Task>> needs;
  std::vector<Piece> pieces;  // in any order, several at once
  Piece last;                 // behind all pieces

  bool is_done = false;

  // The scheduler's own.
  std::vector<std::shared_ptr<Task>> followers;
  std::size_t open_needs = 0;
  std::size_t running_count = 0;
  bool is_last_begun = false;
  bool is_wanted = false;  // somebody waits
  std::chrono::steady_clock::time_point not_before;
};
using TaskPointer = std::shared_ptr<Task>;

class Scheduler {
 public:
  Scheduler(std::mutex& mutex, std::vector<std::string>& faults, std::uint64_t seed,
            std::chrono::milliseconds latest);
  ~Scheduler();  // finish_all() was called, and the mutex is not held
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A random number in [0, count).
  [[nodiscard]] std::size_t below(std::size_t count);
  void add(const TaskPointer& task);
  // Makes the task, and all that it needs, due.
  void want(const TaskPointer& task);
  void wait_for(std::unique_lock<std::mutex>& lock, const TaskPointer& task);
  // Does all work, and lets the threads end.
  void finish_all(std::unique_lock<std::mutex>& lock);

 private:
  using Time = std::chrono::steady_clock;
  void run();
  [[nodiscard]] TaskPointer choose();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void work_on(std::unique_lock<std::mutex>& lock, const TaskPointer& task);
  void finish(const TaskPointer& task);

  std::mutex& mutex_;
  std::vector<std::string>& faults_;
  std::mt19937_64 random_;
  std::chrono::milliseconds latest_;
  std::condition_variable changed_;
  std::vector<TaskPointer> ready_;  // tasks whose needs are done
  std::size_t open_count_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;  // begun with the first task
};

}  // namespace xtts::testing::fake_cuda
