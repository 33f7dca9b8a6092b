#include "support/cuda_driver/lifetime.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <utility>

#include "support/cuda_driver/fork_watch.hpp"

namespace xtts::testing::fake_cuda {
namespace {

constexpr const char* kSeedVariable = "XTTS_FAKE_CUDA_SEED";
constexpr const char* kFaultsVariable = "XTTS_FAKE_CUDA_FAULTS";

struct Lifetime {
  std::mutex mutex;
  std::unique_ptr<FakeDriver> driver;
  std::uint64_t era_count = 0;
};

// Never destroyed: the library's own end comes behind the destructors of static objects.
Lifetime& lifetime() {
  static auto* const one = new Lifetime;
  return *one;
}

std::atomic<bool> is_gone = false;

Options options_of_environment() {
  Options options;
  const char* const seed = std::getenv(kSeedVariable);
  if (seed != nullptr) options.seed = std::strtoull(seed, nullptr, 10);
  return options;
}

std::unique_ptr<FakeDriver> make_driver(const Options& options) {
  return std::make_unique<FakeDriver>(lifetime().mutex, options, ++lifetime().era_count);
}

std::unique_ptr<FakeDriver> finish_driver(std::unique_lock<std::mutex>& lock) {
  std::unique_ptr<FakeDriver>& now = lifetime().driver;
  if (now == nullptr) return nullptr;
  now->scheduler.finish_all(lock);
  return std::move(now);
}

// Several processes may write to the file, so each line has the process's number.
void write_report(const FakeDriver& ended, const std::string& path) {
  std::string report;
  const std::string process = "process " + std::to_string(::getpid());
  for (const std::string& one : all_faults(ended)) report += process + ": fault: " + one + "\n";
  for (const std::string& one : all_leftovers(ended)) report += process + ": left: " + one + "\n";
  std::ofstream file(path, std::ios::app);
  file.write(report.data(), static_cast<std::streamsize>(report.size()));
}

// The loader calls this behind the destructors of all static objects.
__attribute__((destructor)) void end_driver() {
  if (is_child()) return;
  std::unique_ptr<FakeDriver> ended;
  {
    std::unique_lock lock(lifetime().mutex);
    is_gone = true;
    ended = finish_driver(lock);
  }
  const char* const path = std::getenv(kFaultsVariable);
  if (ended != nullptr && path != nullptr) write_report(*ended, path);
}

}  // namespace

std::mutex& driver_mutex() {
  return lifetime().mutex;
}

FakeDriver& driver() {
  std::unique_ptr<FakeDriver>& now = lifetime().driver;
  if (now == nullptr) now = make_driver(options_of_environment());
  return *now;
}

void replace_driver(const Options& options) {
  if (is_child()) return;
  std::unique_ptr<FakeDriver> ended;  // its threads need the mutex to end
  std::unique_lock lock(lifetime().mutex);
  ended = finish_driver(lock);
  lifetime().driver = make_driver(options);
  forget_children();
  lifetime().driver->is_started = options.is_started;
  if (options.is_started) own_driver();
  lock.unlock();
}

bool is_driver_gone() {
  return is_gone;
}

std::vector<std::string> all_faults(const FakeDriver& driver) {
  std::vector<std::string> all = driver.faults;
  for (std::string& one : faults_of_children()) all.push_back(std::move(one));
  return all;
}

std::vector<std::string> all_leftovers(const FakeDriver& driver) {
  std::vector<std::string> all = driver.leftovers(nullptr);
  for (const auto& [device, context] : driver.primary_contexts) {
    const std::uint64_t count = context->retain_count;
    if (count > 0) all.push_back(context->name + ", retained " + std::to_string(count) + " times");
  }
  for (const auto& [thread, stack] : driver.current_by_thread) {
    if (!stack.empty()) {
      all.push_back(stack.back()->name + ", current on thread " + std::to_string(thread));
    }
  }
  return all;
}

}  // namespace xtts::testing::fake_cuda
