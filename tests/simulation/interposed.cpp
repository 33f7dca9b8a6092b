// The seam: functions of the C library, defined again. A program's own definition goes before a
// shared library's, so calls from libstdc++ come here, too. For a thread that is no task of a
// Scheduler, each function calls the C library's.
//
// - Threads become tasks. A mutex is taken by trylock: where another task has it, the task waits in
//   the scheduler. A condition's waiters are the scheduler's.
// - Clocks are the scheduler's. Random words are the scheduler's, so that nonces repeat.
// - libstdc++ waits on atomics by the futex call and by sched_yield: both become a yield.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <random>

#include "real_threads.hpp"
#include "scheduler.hpp"

namespace xtts::simulation {
namespace {

template <typename Function>
Function* find_real(const char* name) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) ::_exit(99);
  return reinterpret_cast<Function*>(found);
}

#define XTTS_REAL(function) \
  static auto* const real = ::xtts::simulation::find_real<decltype(function)>(#function)

Nanoseconds from_timespec(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

timespec to_timespec(Nanoseconds time) {
  return {.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000),
          .tv_nsec = static_cast<long>(time.count() % 1'000'000'000)};
}

// The threads that tasks have created, until they are joined. Only tasks touch it, one at a time.
struct Created {
  Task* task = nullptr;
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  Scheduler* scheduler = nullptr;
};
std::map<pthread_t, Task*>& tasks_by_thread() {
  static std::map<pthread_t, Task*> tasks;
  return tasks;
}

void* run_created(void* given) {
  const std::unique_ptr<Created> created(static_cast<Created*>(given));
  created->scheduler->begin(*created->task);
  void* const result = created->function(created->argument);
  created->scheduler->end(*created->task);
  return result;
}

void* run_real(void* given) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
  (*work)();
  return nullptr;
}

int lock_in_turn(Scheduler& scheduler, pthread_mutex_t* mutex) {
  for (;;) {
    const int result = ::pthread_mutex_trylock(mutex);
    if (result != EBUSY) return result;
    scheduler.wait_on(Wait::kMutex, mutex, std::nullopt);
  }
}

int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex,
                       std::optional<Nanoseconds> deadline) {
  Scheduler& scheduler = *Scheduler::active();
  (void)::pthread_mutex_unlock(mutex);
  const bool was_woken = scheduler.wait_on(Wait::kCondition, condition, deadline);
  const int locked = lock_in_turn(scheduler, mutex);
  return was_woken || locked != 0 ? locked : ETIMEDOUT;
}

}  // namespace

void start_real_thread(std::function<void()> work) {
  XTTS_REAL(pthread_create);
  pthread_t thread{};
  auto given = std::make_unique<std::function<void()>>(std::move(work));
  if (real(&thread, nullptr, run_real, given.get()) != 0) ::_exit(98);
  (void)given.release();
  (void)::pthread_detach(thread);
}

}  // namespace xtts::simulation

using xtts::simulation::Scheduler;
using xtts::simulation::Wait;
namespace sim = xtts::simulation;

#pragma GCC visibility push(default)  // shared libraries must find them

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  XTTS_REAL(pthread_create);
  Scheduler* const scheduler = Scheduler::active();
  if (scheduler == nullptr) return real(thread, attributes, function, argument);
  auto created = std::make_unique<sim::Created>();
  *created = {.task = &scheduler->make_task(*Scheduler::current()->process),
              .function = function,
              .argument = argument,
              .scheduler = scheduler};
  sim::Task* const task = created->task;
  if (real(thread, attributes, sim::run_created, created.get()) != 0) ::_exit(98);
  (void)created.release();
  sim::tasks_by_thread()[*thread] = task;
  scheduler->step();
  return 0;
}

int pthread_join(pthread_t thread, void** result) {
  XTTS_REAL(pthread_join);
  if (Scheduler* const scheduler = Scheduler::active()) {
    const auto found = sim::tasks_by_thread().find(thread);
    if (found != sim::tasks_by_thread().end()) {
      sim::Task* const task = found->second;
      sim::tasks_by_thread().erase(found);
      while (!task->has_ended) scheduler->wait_on(Wait::kEndOfTask, task, std::nullopt);
    }
  }
  return real(thread, result);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  XTTS_REAL(pthread_mutex_lock);
  Scheduler* const scheduler = Scheduler::active();
  return scheduler == nullptr ? real(mutex) : sim::lock_in_turn(*scheduler, mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  XTTS_REAL(pthread_mutex_unlock);
  const int result = real(mutex);
  if (Scheduler* const scheduler = Scheduler::active()) scheduler->wake_all(Wait::kMutex, mutex);
  return result;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  XTTS_REAL(pthread_cond_wait);
  if (Scheduler::active() == nullptr) return real(condition, mutex);
  return sim::wait_for_condition(condition, mutex, std::nullopt);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* deadline) {
  XTTS_REAL(pthread_cond_timedwait);
  if (Scheduler::active() == nullptr) return real(condition, mutex, deadline);
  return sim::wait_for_condition(condition, mutex, sim::from_timespec(*deadline));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  XTTS_REAL(pthread_cond_clockwait);
  if (Scheduler::active() == nullptr) return real(condition, mutex, clock, deadline);
  return sim::wait_for_condition(condition, mutex, sim::from_timespec(*deadline));
}

int pthread_cond_signal(pthread_cond_t* condition) {
  XTTS_REAL(pthread_cond_signal);
  Scheduler* const scheduler = Scheduler::active();
  if (scheduler == nullptr) return real(condition);
  scheduler->wake_one(Wait::kCondition, condition);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  XTTS_REAL(pthread_cond_broadcast);
  Scheduler* const scheduler = Scheduler::active();
  if (scheduler == nullptr) return real(condition);
  scheduler->wake_all(Wait::kCondition, condition);
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  XTTS_REAL(clock_gettime);
  Scheduler* const scheduler = Scheduler::active();
  if (scheduler == nullptr) return real(clock, time);
  *time = sim::to_timespec(scheduler->now());
  return 0;
}

int nanosleep(const timespec* duration, timespec* left) {
  XTTS_REAL(nanosleep);
  Scheduler* const scheduler = Scheduler::active();
  if (scheduler == nullptr) return real(duration, left);
  scheduler->sleep_until(scheduler->now() + sim::from_timespec(*duration));
  return 0;
}

// Messages and locks name the process and its host: no number of this machine may get into a
// history. Process 1 lives.
pid_t getpid() noexcept {
  XTTS_REAL(getpid);
  return Scheduler::active() == nullptr ? real() : 1;
}

int gethostname(char* name, size_t size) noexcept {
  XTTS_REAL(gethostname);
  if (Scheduler::active() == nullptr || size < 5) return real(name, size);
  std::memcpy(name, "here", 5);
  return 0;
}

int sched_yield() noexcept {
  XTTS_REAL(sched_yield);
  Scheduler* const scheduler = Scheduler::active();
  if (scheduler == nullptr) return real();
  scheduler->yield();
  return 0;
}

long syscall(long number, ...) noexcept {
  using Call = long(long, long, long, long, long, long, long);
  static Call* const real = sim::find_real<Call>("syscall");
  constexpr int kWait = 0;  // FUTEX_WAIT, and 9 with a bit set; the rest are flags
  constexpr int kWaitBitset = 9;
  constexpr int kFlags = 128 | 256;
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  if (Scheduler* const scheduler = Scheduler::active();
      scheduler != nullptr && number == SYS_futex) {
    const int operation = static_cast<int>(words[1]) & ~kFlags;
    if (operation == kWait || operation == kWaitBitset) {
      scheduler->yield();
      errno = EAGAIN;
      return -1;
    }
  }
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // extern "C"

// Replaces std::random_device: gives the scheduler's words to a task.
std::random_device::result_type std::random_device::_M_getval() {
  Scheduler* const scheduler = Scheduler::active();
  return static_cast<result_type>(scheduler == nullptr ? 4 : scheduler->random_word());
}

#pragma GCC visibility pop
