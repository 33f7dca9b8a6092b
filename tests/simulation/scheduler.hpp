// Scheduler runs the threads of simulated programs one at a time. Its seed decides who goes on.
//
// Each task is a real thread that waits for its turn. A task gives its turn away at a step (step(),
// wait_on(), sleep()), and the scheduler picks the next one that can work. When none can, the clock
// jumps to the first deadline. When there is no deadline either, the tasks hang: run() returns
// false.
//
// interposed.cpp sends the C library's threads, mutexes and conditions here. So threads that the
// code under test starts become tasks of the process that started them. current() tells whether the
// calling thread is a task. Only one task runs at a time, so the scheduler needs no lock; run() is
// called by a thread that is no task.
#pragma once

#include <semaphore.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace xtts::simulation {

using Nanoseconds = std::chrono::nanoseconds;

// A simulated process, as far as the scheduler needs it.
struct ProcessState {
  std::string name;
  bool is_dead = false;
  Nanoseconds suspended_until{0};
};

enum class Wait : std::uint8_t { kNone, kMutex, kCondition, kEndOfTask, kTime };

struct Task {
  std::uint32_t id = 0;
  ProcessState* process = nullptr;
  std::function<void()> work;
  Wait wait = Wait::kNone;
  const void* waits_for = nullptr;
  std::optional<Nanoseconds> deadline;
  bool timed_out = false;
  bool has_ended = false;
  sem_t turn = {};
};

class Scheduler {
 public:
  Scheduler(std::uint64_t seed, double switch_share, Nanoseconds start);
  ~Scheduler();

  // The task that runs on this thread; null for a thread that is not simulated.
  [[nodiscard]] static Task* current() noexcept;
  [[nodiscard]] static Scheduler* active() noexcept;  // of the current task

  // Starts a task of `process`, which must outlive the run. The task waits for its first turn.
  void start(ProcessState& process, std::function<void()> work);
  // Makes a task for a thread that the caller creates. The thread calls begin(), and end() last.
  Task& make_task(ProcessState& process);
  void begin(Task& task);
  void end(Task& task);

  // Runs all tasks until they have ended. False: those left wait for one another.
  [[nodiscard]] bool run();
  // Describes what the tasks wait for, for the message of a hang.
  [[nodiscard]] std::string describe_waits() const;

  // The current task's calls.
  void step();   // counts, moves the clock, and may hand over
  void yield();  // hands over if another can work
  // Waits until wake() of the same address or the deadline. False: the deadline came first.
  bool wait_on(Wait kind, const void* address, std::optional<Nanoseconds> deadline);
  void sleep_until(Nanoseconds deadline);

  void wake_all(Wait kind, const void* address);
  void wake_one(Wait kind, const void* address);   // by the seed
  void wake_process(const ProcessState& process);  // ends its sleeps, because it is dead

  [[nodiscard]] Nanoseconds now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t step_count() const noexcept { return step_count_; }
  [[nodiscard]] std::uint64_t decision_count() const noexcept { return decision_count_; }
  [[nodiscard]] std::uint64_t random_word() { return random_(); }

 private:
  [[nodiscard]] bool can_work(const Task& task) const;
  [[nodiscard]] Task* pick();       // null: none can ever work
  void hand_over(Task* from);       // returns when `from` has its turn again
  [[nodiscard]] bool jump_clock();  // to the first deadline
  [[nodiscard]] double random_share();

  std::mt19937_64 random_;
  const double switch_share_;
  Nanoseconds now_;
  std::uint64_t step_count_ = 0;
  std::uint64_t decision_count_ = 0;
  std::deque<std::unique_ptr<Task>> tasks_;
  std::vector<Task*> living_;
  sem_t ended_ = {};
  bool hangs_ = false;
};

}  // namespace xtts::simulation
