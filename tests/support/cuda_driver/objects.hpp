// The objects behind handles. Objects that were destroyed stay in the registry until reset(), so
// that a later use of their handle has a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/driver_calls.hpp"
#include "support/cuda_driver/access_record.hpp"
#include "support/cuda_driver/fake_memory.hpp"
#include "support/cuda_driver/fake_scheduler.hpp"

namespace xtts::testing::fake_cuda {

struct Context;

struct Object {
  std::string name;  // "stream 2"
  std::shared_ptr<Context> context;
  bool is_alive = true;
};

struct Stream : Object {
  std::size_t number = 0;    // in clocks
  bool is_blocking = false;  // ordered with the legacy default stream
  bool is_of_test = false;
  std::uint64_t task_count = 0;
  TaskPointer last;
  Clock clock;  // all that is over when the last task is
};

struct Event : Object {
  TaskPointer record;  // null: never recorded
};

struct Allocation : Object {
  Allocation(std::size_t bytes, std::size_t offset_bytes)
      : size_bytes(bytes), memory(bytes, offset_bytes) {}
  std::size_t size_bytes;
  ClosedMemory memory;
  AccessRecord record;

  [[nodiscard]] std::uint64_t address() const { return memory.shown(); }
  [[nodiscard]] std::byte* own(std::uint64_t shown) const {
    return memory.own() + (shown - address());
  }
};
using AllocationPointer = std::shared_ptr<Allocation>;

struct Module : Object {
  std::vector<TaskPointer> launches;  // that the host did not know to be over at the last look
  std::string ptx;                    // what the module was loaded from, if that was PTX

  // A fatbin does not tell.
  [[nodiscard]] bool has_kernel(const std::string& kernel) const {
    return ptx.empty() || ptx.find(".entry " + kernel + "(") != std::string::npos;
  }
};

enum class KernelKind : std::uint8_t { kFill, kChange, kAdded };
struct Function : Object {
  std::shared_ptr<Module> module;
  KernelKind kind = KernelKind::kFill;
  std::string kernel_name;  // of an added one
};

// A device's primary context. One that is retained again after its release is another object.
struct Context : Object {
  std::uint64_t handle = 0;
  int device = 0;
  std::uint64_t retain_count = 0;
  bool is_held_by_test = false;  // a test's own stream needs it, as a framework would
  std::size_t used_bytes = 0;
  std::shared_ptr<Stream> legacy;
  std::map<std::uint64_t, std::shared_ptr<Stream>> per_thread;  // by the number of the thread
};

struct Registration : Object {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_portable = false;
};

// One kind of objects, by handle.
template <typename T>
class Registry {
 public:
  // `kind` makes the handles of kinds different; `era` those of before and after reset().
  Registry(std::string name, std::uint64_t kind, std::uint64_t era)
      : name_(std::move(name)), first_(era << 32U | kind << 28U) {}

  std::uint64_t add(const std::shared_ptr<T>& object) {
    object->name = name_ + " " + std::to_string(objects_.size() + 1);
    const std::uint64_t handle = first_ + 16 * (objects_.size() + 1);
    objects_.emplace(handle, object);
    return handle;
  }
  // Null: there never was such an object.
  [[nodiscard]] std::shared_ptr<T> find(std::uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  [[nodiscard]] const std::map<std::uint64_t, std::shared_ptr<T>>& all() const { return objects_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::uint64_t first_;
  std::map<std::uint64_t, std::shared_ptr<T>> objects_;
};

}  // namespace xtts::testing::fake_cuda
