#include "support/cuda_driver/fake_driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <utility>

#include "base/hash.hpp"

namespace xtts::testing::fake_cuda {
namespace {

constexpr std::size_t kPiecesMax = 7;

std::string hex(std::uint64_t value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string plain_name(std::string name) {
  if (const std::size_t place = name.rfind("_v"); place != std::string::npos) name.resize(place);
  return name;
}

bool overlaps(std::uint64_t begin, std::uint64_t end, std::uint64_t other_begin,
              std::uint64_t other_end) {
  return begin < other_end && other_begin < end;
}

std::uint64_t address_of(const std::byte* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

std::string in_words(const Use& use) {
  return use.memory_name + " at [" + hex(use.begin - use.origin) + ", " +
         hex(use.end - use.origin) + ")";
}

}  // namespace

std::string bytes_text(std::uint64_t size_bytes) {
  return std::to_string(size_bytes) + " bytes";
}

std::uint64_t number_of_this_thread() {
  static std::atomic<std::uint64_t> count = 0;
  thread_local const std::uint64_t number = ++count;
  return number;
}

Use DeviceRange::use(bool is_write) const {
  return {.record = &allocation->record,
          .memory_name = allocation->name,
          .origin = allocation->address(),
          .begin = begin,
          .end = end,
          .is_write = is_write,
          .must_be_written = !is_write};
}

FakeDriver::FakeDriver(std::mutex& mutex, const Options& some_options, std::uint64_t era)
    : options(some_options),
      scheduler(mutex, faults, some_options.seed, some_options.latest),
      contexts("context", 1, era),
      streams("stream", 2, era),
      events("event", 3, era),
      modules("module", 4, era),
      functions("function", 5, era) {
  for (const FailingCall& failing : options.failing_calls) check_name(failing);
}

void FakeDriver::check_name(const FailingCall& failing) {
  static const std::set<std::string> known{
#define XTTS_NAME(name, symbol, parameters) plain_name(#symbol),
      XTTS_CUDA_DRIVER_CALLS(XTTS_NAME)
#undef XTTS_NAME
  };
  if (known.contains(plain_name(failing.name))) return;
  fault("no call of the driver is named " + failing.name + ", so it cannot be made to fail");
}

// Contexts and their default streams own each other.
FakeDriver::~FakeDriver() {
  for (const auto& [handle, context] : contexts.all()) {
    context->legacy = nullptr;
    context->per_thread.clear();
  }
}

CallResult FakeDriver::count_call(const std::string& name) {
  call_name = name;
  const std::uint64_t count = ++call_counts[name];
  for (const FailingCall& failing : options.failing_calls) {
    const bool is_it = plain_name(failing.name) == name;
    if (is_it && (failing.nth == 0 || failing.nth == count)) return failing.code;
  }
  return cuda::kSuccess;
}

void FakeDriver::add_failing_call(const FailingCall& failing) {
  check_name(failing);
  options.failing_calls.push_back(failing);
}

void FakeDriver::refuse(CallResult result, const std::string& what) {
  fault(call_name + ": " + what);
  throw Refusal{result};
}

std::vector<ContextPointer>& FakeDriver::contexts_of_thread() {
  return current_by_thread[number_of_this_thread()];
}

ContextPointer FakeDriver::current() {
  const auto& stack = contexts_of_thread();
  if (stack.empty()) refuse(kInvalidContext, "no context is current");
  if (!stack.back()->is_alive) {
    refuse(cuda::kContextIsDestroyed, stack.back()->name + " is current, and was released");
  }
  return stack.back();
}

void FakeDriver::check_device(cuda::DeviceOrdinal device) {
  if (device < 0 || device >= options.device_count) throw Refusal{kInvalidDevice};
}

void FakeDriver::check_is_current(const Object& object) {
  const ContextPointer now = current();
  if (object.context == now) return;
  refuse(kInvalidContext,
         object.name + " is of " + object.context->name + ", but " + now->name + " is current");
}

ContextPointer FakeDriver::context(cuda::ContextHandle handle) {
  const ContextPointer found = contexts.find(reinterpret_cast<std::uint64_t>(handle));
  if (found == nullptr) refuse(kInvalidContext, "there never was such a context");
  if (!found->is_alive) refuse(cuda::kContextIsDestroyed, found->name + " was released");
  return found;
}

StreamPointer FakeDriver::stream(cuda::StreamHandle handle) {
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  if (value <= 1) return current()->legacy;
  if (value == 2) {
    const ContextPointer now = current();
    StreamPointer& own = now->per_thread[number_of_this_thread()];
    if (own == nullptr) {
      own = make_stream_object(now, true);
      own->name = "the per-thread stream of thread " + std::to_string(number_of_this_thread()) +
                  " in " + now->name;
    }
    return own;
  }
  const StreamPointer found = streams.find(value);
  if (found == nullptr) refuse(kInvalidHandle, "there never was such a stream");
  if (!found->context->is_alive) {
    refuse(cuda::kContextIsDestroyed, found->name + " is gone: its context was released");
  }
  if (!found->is_alive) refuse(kInvalidHandle, found->name + " was destroyed");
  return found;
}

EventPointer FakeDriver::event(cuda::EventHandle handle) {
  const EventPointer found = events.find(reinterpret_cast<std::uint64_t>(handle));
  if (found == nullptr) refuse(kInvalidHandle, "there never was such an event");
  if (!found->context->is_alive) {
    refuse(cuda::kContextIsDestroyed, found->name + " is gone: its context was released");
  }
  if (!found->is_alive) refuse(kInvalidHandle, found->name + " was destroyed");
  return found;
}

DeviceRange FakeDriver::device_range(std::uint64_t address, std::size_t size_bytes) {
  auto found = allocations.upper_bound(address);
  if (found == allocations.begin()) {
    refuse(kInvalidValue, hex(address) + " is no address of device memory");
  }
  const AllocationPointer allocation = (--found)->second;
  const std::uint64_t offset = address - allocation->address();
  const bool is_inside =
      offset <= allocation->size_bytes && size_bytes <= allocation->size_bytes - offset;
  if (!is_inside) {
    refuse(kInvalidValue, bytes_text(size_bytes) + " at " + hex(address) +
                              " are no device memory, or more than one piece of it; " +
                              allocation->name + " begins " + bytes_text(offset) + " before");
  }
  if (!allocation->is_alive) refuse(kInvalidValue, allocation->name + " was freed");
  return {.allocation = allocation, .begin = address, .end = address + size_bytes};
}

StreamPointer FakeDriver::make_stream_object(const ContextPointer& context, bool is_blocking) {
  auto made = std::make_shared<Stream>();
  made->context = context;
  made->number = stream_count_++;
  made->is_blocking = is_blocking;
  return made;
}

std::vector<std::size_t> FakeDriver::cut(std::size_t total) {
  std::vector<std::size_t> parts;
  const std::size_t usual = total / (1 + scheduler.below(kPiecesMax)) + 1;
  while (total > 0) {
    const std::size_t part = std::min(total, 1 + scheduler.below(2 * usual));
    parts.push_back(part);
    total -= part;
  }
  return parts;
}

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
  check_host_copies();
}

bool FakeDriver::add_host_copy(HostCopy copy) {
  bool is_known = true;
  const std::uint64_t begin = address_of(copy.memory);
  for (HostCopy& other : host_copies_) {
    const std::uint64_t other_begin = address_of(other.memory);
    if (!overlaps(begin, begin + copy.size_bytes, other_begin, other_begin + other.size_bytes)) {
      continue;
    }
    if (other.is_to_host) is_known = false;
    if (other.is_to_host || copy.is_to_host) other.is_checked = copy.is_checked = false;
  }
  host_copies_.push_back(std::move(copy));
  return is_known;
}

// The host may write to a copy's memory once it knows that the copy is over, and not before. So
// the bytes must still be those of the copy at the moment when the host learns of its end.
void FakeDriver::check_host_copies() {
  std::erase_if(host_copies_, [&](const HostCopy& copy) {
    if (!host_clock.covers(copy.task->stamp)) return false;
    if (!copy.is_checked || !copy.hash->has_value()) return true;
    const auto hash = hash_host(copy.memory, copy.size_bytes);
    if (!hash) {
      fault(*copy.task->name + ": memory of the host was unmapped before the host waited for it");
    } else if (*hash != **copy.hash) {
      fault(*copy.task->name + ": memory of the host was written to before the host waited for it");
    }
    return true;
  });
}

void FakeDriver::check_is_locked(const std::byte* memory, std::size_t size_bytes) {
  const ContextPointer now = current();
  std::uint64_t place = address_of(memory);
  const std::uint64_t end = place + size_bytes;
  while (place < end) {
    auto found = registrations.upper_bound(place);
    const bool is_first = found == registrations.begin();
    const Registration* const one = is_first ? nullptr : std::prev(found)->second.get();
    const bool is_locked =
        one != nullptr && one->end > place && (one->is_portable || one->context == now);
    if (!is_locked) {
      fault(call_name + ": " + bytes_text(size_bytes) + " of the host at " +
            hex(address_of(memory)) + " are not page-locked from byte " +
            std::to_string(place - address_of(memory)) + " on");
      return;
    }
    place = one->end;
  }
}

void FakeDriver::enqueue_copy_to_device(Stream& stream, const DeviceRange& to,
                                        const std::byte* from) {
  const std::size_t size_bytes = to.end - to.begin;
  check_is_locked(from, size_bytes);
  const auto hash = std::make_shared<std::optional<std::uint64_t>>(hash_host(from, size_bytes));
  if (!hash->has_value()) refuse(kInvalidValue, "the memory of the host is not mapped");
  HostCopy copy{.task = nullptr, .memory = from, .size_bytes = size_bytes, .hash = hash};
  const bool is_known = add_host_copy(copy);
  Work work{.name = call_name};
  work.uses.push_back(to.use(true));
  work.uses.push_back({.record = &host_record,
                       .memory_name = "memory of the host",
                       .begin = address_of(from),
                       .end = address_of(from) + size_bytes});
  std::size_t offset = 0;
  for (const std::size_t part : cut(size_bytes)) {
    const std::byte* const part_from = from + offset;
    const auto expected = is_known ? hash_host(part_from, part) : std::nullopt;
    work.pieces.emplace_back([=]() -> std::string {
      std::vector<std::byte> bytes(part);
      if (!read_host(part_from, bytes)) return "reads memory of the host that was unmapped";
      std::ranges::copy(bytes, to.own() + offset);
      Hasher64 hasher;
      hasher.update(bytes);
      if (!expected || hasher.finish() == *expected) return {};
      return "copies memory of the host that was written to after the call";
    });
    offset += part;
  }
  host_copies_.back().task = enqueue(stream, std::move(work));
}

void FakeDriver::enqueue_copy_to_host(Stream& stream, std::byte* to, const DeviceRange& from) {
  const std::size_t size_bytes = from.end - from.begin;
  check_is_locked(to, size_bytes);
  const auto hash = std::make_shared<std::optional<std::uint64_t>>();
  const auto before = hash_host(to, size_bytes);
  if (!before) refuse(kInvalidValue, "the memory of the host is not mapped");
  HostCopy copy{
      .task = nullptr, .memory = to, .size_bytes = size_bytes, .is_to_host = true, .hash = hash};
  (void)add_host_copy(copy);
  Work work{.name = call_name};
  work.uses.push_back(from.use(false));
  work.uses.push_back({.record = &host_record,
                       .memory_name = "memory of the host",
                       .begin = address_of(to),
                       .end = address_of(to) + size_bytes,
                       .is_write = true});
  std::size_t offset = 0;
  for (const std::size_t part : cut(size_bytes)) {
    work.pieces.emplace_back([=]() -> std::string {
      const bool is_written = write_host(to + offset, {from.own() + offset, part});
      return is_written ? "" : "writes to memory of the host that was unmapped";
    });
    offset += part;
  }
  work.last = [=]() -> std::string {
    *hash = hash_host(to, size_bytes);
    return {};
  };
  host_copies_.back().task = enqueue(stream, std::move(work));
}

AllocationPointer FakeDriver::allocate(const ContextPointer& context, std::size_t size_bytes) {
  if (size_bytes == 0) refuse(kInvalidValue, "0 bytes cannot be allocated");
  if (size_bytes > options.memory_bytes - context->used_bytes) throw Refusal{cuda::kOutOfMemory};
  auto made = std::make_shared<Allocation>(size_bytes);
  if (!made->memory.is_there()) throw Refusal{cuda::kOutOfMemory};
  made->name = "memory " + std::to_string(++allocation_count_);
  made->context = context;
  context->used_bytes += size_bytes;
  allocations[made->address()] = made;
  return made;
}

void FakeDriver::lock_host_memory(const ContextPointer& context, const std::byte* memory,
                                  std::size_t size_bytes, bool is_portable) {
  const std::uint64_t begin = address_of(memory);
  for (const auto& [other_begin, other] : registrations) {
    if (overlaps(begin, begin + size_bytes, other_begin, other->end)) {
      refuse(kHostMemoryAlreadyLocked, other->name + " is page-locked already");
    }
  }
  auto made = std::make_shared<Registration>();
  made->name = "page-locked memory " + std::to_string(++registration_count_) + " (" +
               bytes_text(size_bytes) + ")";
  made->context = context;
  made->begin = begin;
  made->end = begin + size_bytes;
  made->is_portable = is_portable;
  registrations[begin] = made;
}

void FakeDriver::unlock_host_memory(const std::byte* memory) {
  const auto found = registrations.find(address_of(memory));
  if (found == registrations.end()) {
    refuse(kHostMemoryNotLocked,
           hex(address_of(memory)) + " is not the beginning of page-locked memory");
  }
  const Registration& one = *found->second;
  for (const Trace& open : host_record.find_open(one.begin, one.end, host_clock)) {
    fault(call_name + ": " + one.name + " is unlocked, but the host has not waited for " +
          *open.name + ", which uses it");
  }
  if (!is_mapped(memory, one.end - one.begin)) {
    fault(call_name + ": " + one.name + " was unmapped while it was page-locked");
  }
  registrations.erase(found);
}

void FakeDriver::note_launch(Module& module, const TaskPointer& launch) {
  std::erase_if(module.launches,
                [&](const TaskPointer& earlier) { return host_clock.covers(earlier->stamp); });
  module.launches.push_back(launch);
}

void FakeDriver::check_no_open_launch(const Module& module) {
  for (const TaskPointer& launch : module.launches) {
    if (host_clock.covers(launch->stamp)) continue;
    fault(call_name + ": " + module.name + " is unloaded, but the host has not waited for " +
          *launch->name);
  }
}

ContextPointer FakeDriver::primary_context(int device) {
  ContextPointer& context = primary_contexts[device];
  if (context != nullptr) return context;
  context = std::make_shared<Context>();
  context->handle = contexts.add(context);
  context->device = device;
  context->legacy = make_stream_object(context, false);
  context->legacy->name = "the legacy default stream of " + context->name;
  return context;
}

void FakeDriver::wait_for_all(std::unique_lock<std::mutex>& lock, const Context* of_context) {
  std::vector<TaskPointer> tasks;
  const auto add = [&](const Stream& stream) {
    const bool is_asked_for = of_context == nullptr || stream.context.get() == of_context;
    if (is_asked_for && stream.last != nullptr) tasks.push_back(stream.last);
  };
  for (const auto& [handle, stream] : streams.all()) add(*stream);
  for (const auto& [handle, context] : contexts.all()) {
    add(*context->legacy);
    for (const auto& [thread, stream] : context->per_thread) add(*stream);
  }
  for (const TaskPointer& task : tasks) scheduler.wait_for(lock, task);
}

void FakeDriver::free(std::unique_lock<std::mutex>& lock, const AllocationPointer& allocation) {
  const std::uint64_t begin = allocation->address();
  for (const Trace& open :
       allocation->record.find_open(begin, begin + allocation->size_bytes, host_clock)) {
    fault(call_name + ": " + allocation->name + " is freed, but the host has not waited for " +
          *open.name + ", which uses it");
  }
  allocation->is_alive = false;
  allocation->context->used_bytes -= allocation->size_bytes;
  // The real call waits, too. The host learns nothing by it, because no code should rely on it.
  wait_for_all(lock, nullptr);
  allocation->memory.close();
}

std::vector<std::string> FakeDriver::leftovers(const Context* of_context) const {
  std::vector<std::string> left;
  const auto add = [&](const Object& object) {
    const bool is_asked_for = of_context == nullptr || object.context.get() == of_context;
    if (object.is_alive && object.context->is_alive && is_asked_for) left.push_back(object.name);
  };
  for (const auto& [handle, stream] : streams.all()) {
    if (!stream->is_of_test) add(*stream);
  }
  for (const auto& [handle, event] : events.all()) add(*event);
  for (const auto& [address, allocation] : allocations) add(*allocation);
  for (const auto& [begin, registration] : registrations) add(*registration);
  for (const auto& [handle, module] : modules.all()) add(*module);
  return left;
}

void FakeDriver::end(std::unique_lock<std::mutex>& lock, const ContextPointer& context) {
  for (const std::string& name : leftovers(context.get())) {
    fault(call_name + ": " + context->name + " is released, but " + name + " still exists");
  }
  if (context->is_held_by_test) return;
  wait_for_all(lock, context.get());
  std::erase_if(registrations, [&](const auto& entry) { return entry.second->context == context; });
  context->is_alive = false;
  primary_contexts.erase(context->device);
}

}  // namespace xtts::testing::fake_cuda
