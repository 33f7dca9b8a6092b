// HostMemory: memory of the host, as far as the driver knows it. It knows which parts are
// page-locked, and which copies use them. The driver's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "support/cuda_driver/access_record.hpp"
#include "support/cuda_driver/objects.hpp"

namespace xtts::testing::fake_cuda {

class FakeDriver;

// A copy whose end the host does not know yet. Its memory of the host must stay as it is.
struct HostCopy {
  TaskPointer task;  // known once the copy is queued
  const std::byte* memory = nullptr;
  std::size_t size_bytes = 0;
  bool is_to_host = false;
  // Of the bytes that the host must find there. Nothing: the copy to the host is not done.
  std::shared_ptr<std::optional<std::uint64_t>> hash;
  bool is_checked = true;  // no other open copy writes there
};

class HostMemory {
 public:
  explicit HostMemory(FakeDriver& driver) : driver_(driver) {}

  void lock(const std::shared_ptr<Context>& context, const std::byte* memory,
            std::size_t size_bytes, bool is_portable);
  void unlock(const std::byte* memory);
  // A fault where some byte is not page-locked.
  void check_is_locked(const std::byte* memory, std::size_t size_bytes);
  void forget(const Context& context);
  [[nodiscard]] const std::map<std::uint64_t, std::shared_ptr<Registration>>& locked() const {
    return locked_;
  }

  // Returns false if an open copy to the host writes there, so that its bytes are not known yet.
  [[nodiscard]] bool add_copy(HostCopy copy);
  void set_task_of_last_copy(TaskPointer task) { copies_.back().task = std::move(task); }
  // Looks at the copies of which the host has learned that they are over.
  void check_copies();

  [[nodiscard]] AccessRecord& record() { return record_; }

 private:
  FakeDriver& driver_;
  std::map<std::uint64_t, std::shared_ptr<Registration>> locked_;  // by beginning
  std::size_t locked_count_ = 0;                                   // since the driver's beginning
  std::vector<HostCopy> copies_;
  AccessRecord record_;
};

}  // namespace xtts::testing::fake_cuda
