// FakeDriver: the state of the adversarial driver between two reset() calls, and the rules that it
// watches. The entry points check their arguments here and queue their work here.
//
// The host is one timeline: what one thread has waited for, all threads know. So a missing order
// between two threads of the host is not found.
//
// driver_mutex() guards all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/fake_host_memory.hpp"
#include "support/cuda_driver/objects.hpp"

namespace xtts::testing::fake_cuda {

using cuda::CallResult;
using ContextPointer = std::shared_ptr<Context>;
using StreamPointer = std::shared_ptr<Stream>;
using EventPointer = std::shared_ptr<Event>;

// Results that only the fake driver gives.
inline constexpr CallResult kInvalidValue = 1;
inline constexpr CallResult kNotInitialized = 3;
inline constexpr CallResult kInvalidDevice = 101;
inline constexpr CallResult kInvalidImage = 200;
inline constexpr CallResult kInvalidContext = 201;
inline constexpr CallResult kInvalidHandle = 400;
inline constexpr CallResult kNotFound = 500;
inline constexpr CallResult kHostMemoryAlreadyLocked = 712;
inline constexpr CallResult kHostMemoryNotLocked = 713;

// A use of a range of memory by a task.
struct Use {
  AccessRecord* record = nullptr;
  std::string memory_name;
  std::uint64_t origin = 0;  // the address that counts as 0 in messages
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_write = false;
  bool must_be_written = false;  // a read of bytes that nobody wrote is a fault
};

// The work that a call puts on a stream.
struct Work {
  std::string name;  // of the call
  std::vector<Use> uses = {};
  std::vector<Piece> pieces = {};
  Piece last = {};
  TaskPointer waited_for = nullptr;  // the task of another stream that must be over
};

// A range of one allocation.
struct DeviceRange {
  AllocationPointer allocation;
  std::uint64_t begin = 0;  // an address, as the program sees it
  std::uint64_t end = 0;

  // The driver's own mapping of the range.
  [[nodiscard]] std::byte* own() const { return allocation->own(begin); }
  [[nodiscard]] Use use(bool is_write) const;
};

// Thrown by checks. The entry point returns the result.
struct Refusal {
  CallResult result;
};

class FakeDriver {
 public:
  FakeDriver(std::mutex& mutex, const Options& options, std::uint64_t era);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // Counts the call. Returns the failure that the test has ordered; kSuccess: none.
  [[nodiscard]] CallResult count_call(const std::string& name);
  [[noreturn]] void refuse(CallResult result, const std::string& what);
  void fault(const std::string& what) { faults.push_back(what); }

  // Each finds its object, which must be alive, or refuses the call. check_is_current() refuses an
  // object of another context than the current one.
  [[nodiscard]] ContextPointer current();
  void check_device(cuda::DeviceOrdinal device);
  [[nodiscard]] ContextPointer context(cuda::ContextHandle handle);
  [[nodiscard]] StreamPointer stream(cuda::StreamHandle handle);
  [[nodiscard]] EventPointer event(cuda::EventHandle handle);
  [[nodiscard]] DeviceRange device_range(std::uint64_t address, std::size_t size_bytes);
  // Also of memory that was freed.
  [[nodiscard]] bool is_device_address(std::uint64_t address) const;
  void check_is_current(const Object& object);

  [[nodiscard]] std::vector<ContextPointer>& contexts_of_thread();
  [[nodiscard]] StreamPointer make_stream_object(const ContextPointer& context, bool is_blocking);

  // Queues work, and checks that it is ordered behind all work that it must not overtake.
  TaskPointer enqueue(Stream& stream, Work work);
  // Faults for uses that are not ordered behind earlier ones. `clock` covers what is over before.
  void check_order(const std::string& name, const Clock& clock, const std::vector<Use>& uses);
  void wait_as_host(std::unique_lock<std::mutex>& lock, const TaskPointer& task);
  // The host knows now that the task is over.
  void learn(const Task& task);

  [[nodiscard]] AllocationPointer allocate(const ContextPointer& context, std::size_t size_bytes);
  void note_launch(Module& module, const TaskPointer& launch);
  void check_no_open_launch(const Module& module);

  // The context of the device; made where there is none.
  [[nodiscard]] ContextPointer primary_context(int device);
  // The last owner is gone. All that belongs to the context and is still there is a fault.
  void end(std::unique_lock<std::mutex>& lock, const ContextPointer& context);
  void free(std::unique_lock<std::mutex>& lock, const AllocationPointer& allocation);
  [[nodiscard]] std::vector<std::string> leftovers(const Context* of_context) const;

  // Sizes of parts that make `total`, at random.
  [[nodiscard]] std::vector<std::size_t> cut(std::size_t total);
  // 0 to `count` - 1, in a random order.
  [[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count);

  Options options;
  std::vector<std::string> faults;
  Scheduler scheduler;
  bool is_started = false;  // cuInit() has succeeded
  std::string call_name;    // of the call that runs
  std::map<std::string, std::uint64_t> call_counts;

  Registry<Context> contexts;
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Module> modules;
  Registry<Function> functions;
  std::map<int, ContextPointer> primary_contexts;                          // by device; alive
  std::map<std::uint64_t, std::vector<ContextPointer>> current_by_thread;  // stacks
  std::map<std::uint64_t, AllocationPointer> allocations;  // by address; freed ones, too
  HostMemory host;
  Clock host_clock;  // all that the host knows to be over

 private:
  void check_name(const FailingCall& failing);
  void follow(Task& task, const Stream& earlier);
  void wait_for_all(std::unique_lock<std::mutex>& lock, const Context* of_context);

  std::size_t stream_count_ = 0;
  std::size_t allocation_count_ = 0;
};

[[nodiscard]] std::uint64_t number_of_this_thread();

}  // namespace xtts::testing::fake_cuda
