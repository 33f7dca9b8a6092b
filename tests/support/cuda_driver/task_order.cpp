// FakeDriver's queues: which tasks a task comes behind, and what its uses of memory must come
// behind.
#include <utility>

#include "support/cuda_driver/fake_driver.hpp"
#include "support/cuda_driver/words.hpp"

namespace xtts::testing::fake_cuda {
namespace {

std::string in_words(const Use& use) {
  return use.memory_name + " at [" + hex(use.begin - use.origin) + ", " +
         hex(use.end - use.origin) + ")";
}

}  // namespace

// The task comes behind all that the other stream has been given so far.
void FakeDriver::follow(Task& task, const Stream& earlier) {
  if (earlier.last == nullptr) return;
  task.clock.join(earlier.clock);
  task.needs.push_back(earlier.last);
}

TaskPointer FakeDriver::enqueue(Stream& stream, Work work) {
  auto task = std::make_shared<Task>();
  task->stamp = {.stream = stream.number, .number = ++stream.task_count};
  task->name = std::make_shared<const std::string>(work.name + " (" + stream.name + ", task " +
                                                   std::to_string(stream.task_count) + ")");
  task->clock = host_clock;
  follow(*task, stream);
  const Context& context = *stream.context;
  if (&stream == context.legacy.get()) {
    for (const auto& [handle, other] : streams.all()) {
      if (other->is_blocking && other->context == stream.context) follow(*task, *other);
    }
    for (const auto& [thread, other] : context.per_thread) follow(*task, *other);
  } else if (stream.is_blocking) {
    follow(*task, *context.legacy);
  }
  if (work.waited_for != nullptr) {
    task->clock.join(work.waited_for->clock);
    task->needs.push_back(work.waited_for);
  }
  check_order(*task->name, task->clock, work.uses);
  task->clock.add(task->stamp);
  for (const Use& use : work.uses) {
    use.record->add(use.begin, use.end, use.is_write, {.stamp = task->stamp, .name = task->name});
  }
  task->pieces = std::move(work.pieces);
  task->last = std::move(work.last);
  stream.last = task;
  stream.clock = task->clock;
  scheduler.add(task);
  return task;
}

void FakeDriver::check_order(const std::string& name, const Clock& clock,
                             const std::vector<Use>& uses) {
  for (const Use& use : uses) {
    if (use.begin == use.end) continue;
    const auto conflicts = use.record->find_conflicts(use.begin, use.end, use.is_write, clock);
    const std::string what = name + (use.is_write ? " writes " : " reads ") + in_words(use);
    for (const Trace& write : conflicts.writes) {
      fault(what + " and is not ordered behind " + *write.name + ", which writes it");
    }
    for (const Trace& read : conflicts.reads) {
      fault(what + " and is not ordered behind " + *read.name + ", which reads it");
    }
    if (use.must_be_written && conflicts.unwritten_bytes > 0) {
      fault(what + ", of which " + bytes_text(conflicts.unwritten_bytes) + " were never written");
    }
  }
}

void FakeDriver::wait_as_host(std::unique_lock<std::mutex>& lock, const TaskPointer& task) {
  if (task == nullptr) return;
  scheduler.wait_for(lock, task);
  learn(*task);
}

void FakeDriver::learn(const Task& task) {
  host_clock.join(task.clock);
  host.check_copies();
}

}  // namespace xtts::testing::fake_cuda
