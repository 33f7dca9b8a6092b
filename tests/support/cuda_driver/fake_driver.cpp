#include "support/cuda_driver/fake_driver.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "support/cuda_driver/words.hpp"

namespace xtts::testing::fake_cuda {
namespace {

constexpr std::size_t kPiecesMax = 7;
constexpr std::size_t kPageBytes = 4096;
// CUDA's C++ Programming Guide promises this much: "at least 256 bytes".
constexpr std::size_t kMemoryAlignment = 256;

std::string plain_name(std::string name) {
  if (name == "cuMemcpyBatchAsync_v2") return name;  // the code calls its older form, too
  if (const std::size_t place = name.rfind("_v"); place != std::string::npos) name.resize(place);
  return name;
}

}  // namespace

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
      functions("function", 5, era),
      host(*this) {
  for (const FailingCall& failing : options.failing_calls) check_name(failing);
}

void FakeDriver::check_name(const FailingCall& failing) {
  static const std::set<std::string> known{
#define XTTS_NAME(name, symbol, parameters) plain_name(#symbol),
      XTTS_CUDA_DRIVER_CALLS(XTTS_NAME) XTTS_CUDA_NEWER_DRIVER_CALLS(XTTS_NAME)
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

bool FakeDriver::is_device_address(std::uint64_t address) const {
  const auto behind = allocations.upper_bound(address);
  if (behind == allocations.begin()) return false;
  const Allocation& allocation = *std::prev(behind)->second;
  return address - allocation.address() < allocation.size_bytes;
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

std::vector<std::size_t> FakeDriver::shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = scheduler.below(i + 1);
    order[i] = order[place];
    order[place] = i;
  }
  return order;
}

AllocationPointer FakeDriver::allocate(const ContextPointer& context, std::size_t size_bytes) {
  if (size_bytes == 0) refuse(kInvalidValue, "0 bytes cannot be allocated");
  if (size_bytes > options.memory_bytes - context->used_bytes) throw Refusal{cuda::kOutOfMemory};
  const std::size_t offset = kMemoryAlignment * scheduler.below(kPageBytes / kMemoryAlignment);
  auto made = std::make_shared<Allocation>(size_bytes, offset);
  if (!made->memory.is_there()) throw Refusal{cuda::kOutOfMemory};
  made->name = "memory " + std::to_string(++allocation_count_);
  made->context = context;
  context->used_bytes += size_bytes;
  allocations[made->address()] = made;
  return made;
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
  for (const auto& [begin, one] : host.locked()) add(*one);
  for (const auto& [handle, module] : modules.all()) add(*module);
  return left;
}

void FakeDriver::end(std::unique_lock<std::mutex>& lock, const ContextPointer& context) {
  for (const std::string& name : leftovers(context.get())) {
    fault(call_name + ": " + context->name + " is released, but " + name + " still exists");
  }
  if (context->is_held_by_test) return;
  wait_for_all(lock, context.get());
  host.forget(*context);
  context->is_alive = false;
  primary_contexts.erase(context->device);
}

}  // namespace xtts::testing::fake_cuda
