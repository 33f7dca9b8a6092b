#include "support/cuda_driver/fake_scheduler.hpp"

#include <algorithm>
#include <utility>

#include "support/cuda_driver/fake_memory.hpp"

namespace xtts::testing::fake_cuda {
namespace {

constexpr std::size_t kThreadsMax = 3;
constexpr std::size_t kUsualDelayUs = 1500;
constexpr std::size_t kPauseMaxUs = 100;

}  // namespace

Scheduler::Scheduler(std::mutex& mutex, std::vector<std::string>& faults, std::uint64_t seed,
                     std::chrono::milliseconds latest)
    : mutex_(mutex), faults_(faults), random_(seed), latest_(latest) {}

Scheduler::~Scheduler() {
  for (std::thread& thread : threads_) thread.join();
}

std::size_t Scheduler::below(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

// One task in three may be done at once, one in six is as late as it may be.
void Scheduler::add(const TaskPointer& task) {
  const std::size_t kind = below(6);
  task->not_before = Time::now();
  if (kind == 0) task->not_before += latest_;
  if (kind > 2) {
    task->not_before += std::min<std::chrono::microseconds>(
        latest_, std::chrono::microseconds(below(kUsualDelayUs)));
  }
  ++open_count_;
  for (const TaskPointer& need : task->needs) {
    if (need->is_done) continue;
    need->followers.push_back(task);
    ++task->open_needs;
  }
  if (task->open_needs == 0) ready_.push_back(task);
  if (threads_.empty()) {
    const std::size_t count = 1 + below(kThreadsMax);
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  changed_.notify_all();
}

void Scheduler::want(const TaskPointer& task) {
  std::vector<TaskPointer> wanted{task};
  while (!wanted.empty()) {
    const TaskPointer one = std::move(wanted.back());
    wanted.pop_back();
    if (one->is_done || one->is_wanted) continue;
    one->is_wanted = true;
    wanted.insert(wanted.end(), one->needs.begin(), one->needs.end());
  }
  changed_.notify_all();
}

void Scheduler::wait_for(std::unique_lock<std::mutex>& lock, const TaskPointer& task) {
  want(task);
  changed_.wait(lock, [&] { return task->is_done; });
}

void Scheduler::finish_all(std::unique_lock<std::mutex>& lock) {
  is_ending_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return open_count_ == 0; });
}

void Scheduler::run() {
  std::unique_lock lock(mutex_);
  while (!is_ending_ || open_count_ > 0) {
    const TaskPointer task = choose();
    if (task == nullptr) {
      wait_for_work(lock);
      continue;
    }
    work_on(lock, task);
    if (below(8) == 0) {
      const std::chrono::microseconds pause(below(kPauseMaxUs));
      lock.unlock();
      std::this_thread::sleep_for(pause);
      lock.lock();
    }
  }
  changed_.notify_all();
}

// A task that is due and has a piece that no thread has taken. Null: there is none.
TaskPointer Scheduler::choose() {
  const auto now = Time::now();
  std::vector<TaskPointer> due;
  for (const TaskPointer& task : ready_) {
    const bool is_due = task->is_wanted || is_ending_ || now >= task->not_before;
    const bool is_taken = task->pieces.empty() && (task->running_count > 0 || task->is_last_begun);
    if (is_due && !is_taken) due.push_back(task);
  }
  return due.empty() ? nullptr : due[below(due.size())];
}

void Scheduler::wait_for_work(std::unique_lock<std::mutex>& lock) {
  auto next = Time::time_point::max();
  for (const TaskPointer& task : ready_) {
    if (task->running_count == 0 && !task->is_last_begun) next = std::min(next, task->not_before);
  }
  if (next == Time::time_point::max()) {
    changed_.wait(lock);
  } else {
    changed_.wait_until(lock, next);
  }
}

void Scheduler::work_on(std::unique_lock<std::mutex>& lock, const TaskPointer& task) {
  const auto run_piece = [&](const Piece& piece) {
    lock.unlock();
    std::string fault = piece();
    lock.lock();
    if (!fault.empty()) faults_.push_back(*task->name + " " + fault);
  };
  if (!task->pieces.empty()) {
    const auto chosen =
        task->pieces.begin() + static_cast<std::ptrdiff_t>(below(task->pieces.size()));
    const Piece piece = std::move(*chosen);
    task->pieces.erase(chosen);
    ++task->running_count;
    run_piece([&] {
      const UnwatchedAccess unwatched;
      return piece();
    });
    --task->running_count;
  }
  if (!task->pieces.empty() || task->running_count > 0 || task->is_last_begun) return;
  task->is_last_begun = true;
  if (task->last) run_piece(task->last);
  finish(task);
}

void Scheduler::finish(const TaskPointer& task) {
  task->is_done = true;
  task->needs.clear();
  task->last = nullptr;  // it may hold memory
  std::erase(ready_, task);
  --open_count_;
  for (const TaskPointer& follower : std::exchange(task->followers, {})) {
    if (--follower->open_needs == 0) ready_.push_back(follower);
  }
  changed_.notify_all();
}

}  // namespace xtts::testing::fake_cuda
