#include "support/cuda_driver/fork_watch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace xtts::testing::fake_cuda {
namespace {

// A fork leaves literals where they are, so their addresses mean the same in parent and child.
struct SharedNotes {
  std::atomic<std::uint32_t> count;
  std::array<std::atomic<const char*>, 64> names;  // of the first calls
};

std::atomic<pid_t> owner = 0;

// Zeroes at first. Null: the system gives none, and calls of children are refused, but not noted.
SharedNotes* notes() {
  static SharedNotes* const shared = [] {
    void* const memory = ::mmap(nullptr, sizeof(SharedNotes), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<SharedNotes*>(memory);
  }();
  return shared;
}

}  // namespace

void own_driver() {
  (void)notes();
  owner = ::getpid();
}

bool is_child() {
  const pid_t process = owner;
  return process != 0 && process != ::getpid();
}

bool is_call_of_child(const char* name) {
  if (!is_child()) return false;
  SharedNotes* const shared = notes();
  if (shared == nullptr) return true;
  const std::uint32_t place = shared->count++;
  if (place < shared->names.size()) shared->names[place] = name;
  return true;
}

std::vector<std::string> faults_of_children() {
  std::vector<std::string> faults;
  const SharedNotes* const shared = notes();
  if (shared == nullptr) return faults;
  const std::uint32_t count = shared->count;
  const std::size_t named = std::min<std::size_t>(count, shared->names.size());
  for (std::size_t i = 0; i < named; ++i) {
    const char* const name = shared->names[i];
    faults.push_back("a forked child called " + std::string(name == nullptr ? "the driver" : name));
  }
  if (count > named) {
    faults.push_back("forked children made " + std::to_string(count - named) + " more calls");
  }
  return faults;
}

void forget_children() {
  owner = 0;
  SharedNotes* const shared = notes();
  if (shared == nullptr) return;
  for (auto& name : shared->names) name = nullptr;
  shared->count = 0;
}

}  // namespace xtts::testing::fake_cuda
