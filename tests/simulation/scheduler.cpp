#include "scheduler.hpp"

#include <algorithm>

#include "real_threads.hpp"

namespace xtts::simulation {
namespace {

constexpr Nanoseconds kStepTime = std::chrono::microseconds(50);

thread_local Task* current_task = nullptr;
thread_local Scheduler* active_scheduler = nullptr;

void wait_for_turn(sem_t& turn) {
  while (sem_wait(&turn) != 0) {
  }
}

}  // namespace

Scheduler::Scheduler(std::uint64_t seed, double switch_share, Nanoseconds start)
    : random_(seed), switch_share_(switch_share), now_(start) {
  sem_init(&ended_, 0, 0);
}

Scheduler::~Scheduler() {
  for (const auto& task : tasks_) sem_destroy(&task->turn);
  sem_destroy(&ended_);
}

Task* Scheduler::current() noexcept {
  return current_task;
}
Scheduler* Scheduler::active() noexcept {
  return active_scheduler;
}

Task& Scheduler::make_task(ProcessState& process) {
  tasks_.push_back(std::make_unique<Task>());
  Task& task = *tasks_.back();
  task.id = static_cast<std::uint32_t>(tasks_.size());
  task.process = &process;
  sem_init(&task.turn, 0, 0);
  living_.push_back(&task);
  return task;
}

void Scheduler::start(ProcessState& process, std::function<void()> work) {
  Task& task = make_task(process);
  task.work = std::move(work);
  start_real_thread([this, &task] {
    begin(task);
    task.work();
    end(task);
  });
}

void Scheduler::begin(Task& task) {
  wait_for_turn(task.turn);
  current_task = &task;
  active_scheduler = this;
}

void Scheduler::end(Task& task) {
  task.has_ended = true;
  std::erase(living_, &task);
  wake_all(Wait::kEndOfTask, &task);
  current_task = nullptr;
  active_scheduler = nullptr;
  Task* const next = pick();
  if (next != nullptr) {
    sem_post(&next->turn);
  } else {
    hangs_ = !living_.empty();
    sem_post(&ended_);
  }
}

bool Scheduler::run() {
  Task* const first = pick();
  if (first == nullptr) return living_.empty();
  sem_post(&first->turn);
  wait_for_turn(ended_);
  return !hangs_;
}

bool Scheduler::can_work(const Task& task) const {
  if (task.process->suspended_until > now_ && !task.process->is_dead) return false;
  return task.wait == Wait::kNone || (task.deadline && *task.deadline <= now_);
}

bool Scheduler::jump_clock() {
  std::optional<Nanoseconds> first;
  for (const Task* task : living_) {
    if (task->wait != Wait::kNone && !task->deadline) continue;
    Nanoseconds at = task->deadline.value_or(now_);
    if (!task->process->is_dead) at = std::max(at, task->process->suspended_until);
    if (!first || at < *first) first = at;
  }
  if (!first) return false;
  now_ = std::max(now_, *first);
  return true;
}

Task* Scheduler::pick() {
  ++decision_count_;
  std::vector<Task*> able;
  for (int attempt = 0; attempt < 2 && able.empty(); ++attempt) {
    if (attempt > 0 && !jump_clock()) return nullptr;
    std::ranges::copy_if(living_, std::back_inserter(able),
                         [&](const Task* task) { return can_work(*task); });
  }
  if (able.empty()) return nullptr;
  Task* const chosen = able[random_() % able.size()];
  if (chosen->wait != Wait::kNone) {
    chosen->timed_out = true;
    chosen->wait = Wait::kNone;
    chosen->deadline.reset();
  }
  return chosen;
}

void Scheduler::hand_over(Task* from) {
  Task* const next = pick();
  if (next == from) return;
  if (next == nullptr) {  // all wait for one another, and so they stay
    hangs_ = true;
    sem_post(&ended_);
  } else {
    sem_post(&next->turn);
  }
  wait_for_turn(from->turn);
}

double Scheduler::random_share() {
  return static_cast<double>(random_() >> 11U) * 0x1.0p-53;
}

void Scheduler::step() {
  ++step_count_;
  now_ += kStepTime;
  if (random_share() < switch_share_ || !can_work(*current_task)) hand_over(current_task);
}

void Scheduler::yield() {
  hand_over(current_task);
}

bool Scheduler::wait_on(Wait kind, const void* address, std::optional<Nanoseconds> deadline) {
  Task& task = *current_task;
  ++step_count_;
  if (task.process->is_dead && deadline) deadline = now_;
  task.wait = kind;
  task.waits_for = address;
  task.deadline = deadline;
  task.timed_out = false;
  hand_over(&task);
  return !task.timed_out;
}

void Scheduler::sleep_until(Nanoseconds deadline) {
  (void)wait_on(Wait::kTime, nullptr, deadline);
}

void Scheduler::wake_all(Wait kind, const void* address) {
  for (Task* task : living_) {
    if (task->wait != kind || task->waits_for != address) continue;
    task->wait = Wait::kNone;
    task->deadline.reset();
  }
}

void Scheduler::wake_one(Wait kind, const void* address) {
  std::vector<Task*> waiting;
  std::ranges::copy_if(living_, std::back_inserter(waiting), [&](const Task* task) {
    return task->wait == kind && task->waits_for == address;
  });
  if (waiting.empty()) return;
  Task* const task = waiting[random_() % waiting.size()];
  task->wait = Wait::kNone;
  task->deadline.reset();
}

void Scheduler::wake_process(const ProcessState& process) {
  for (Task* task : living_)
    if (task->process == &process && task->deadline) task->deadline = now_;
}

std::string Scheduler::describe_waits() const {
  constexpr const char* kNames[] = {"its turn", "a mutex", "a condition", "a thread", "time"};
  std::string text;
  for (const Task* task : living_) {
    text += "thread " + std::to_string(task->id) + " of " + task->process->name + " waits for " +
            kNames[static_cast<std::size_t>(task->wait)] + "\n";
  }
  return text;
}

}  // namespace xtts::simulation
