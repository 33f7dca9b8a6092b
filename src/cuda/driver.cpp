#include "cuda/driver.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/fork_count.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cuda/library.hpp"

namespace xtts::cuda {
namespace {

constexpr std::array<const char*, 1> kLibraries = {"libcuda.so.1"};
constexpr int kVersionMin = 12000;

std::string version_text(int version) {
  return formatted("{}.{}", version / 1000, version % 1000 / 10);
}

Status no_driver(const std::string& why) {
  return {StatusCode::kUnsupported,
          formatted("this machine has no NVIDIA driver ({}): install the driver, start a container "
                    "with '--gpus all', or take the device 'cpu'",
                    why)};
}

Status too_old(const char* symbol) {
  return {
      StatusCode::kUnsupported,
      formatted("the NVIDIA driver is too old: it lacks {}. Update it to one for CUDA {} or later",
                symbol, version_text(kVersionMin))};
}

Result<DriverCalls> load() {
  const auto library = open_library(kLibraries);
  if (!library.ok()) return no_driver(library.status().message());
  DriverCalls calls;
#define XTTS_FIND(name, symbol, parameters) \
  if (!find_call(*library, #symbol, calls.name)) return too_old(#symbol);
  XTTS_CUDA_DRIVER_CALLS(XTTS_FIND)
#undef XTTS_FIND
#define XTTS_FIND(name, symbol, parameters) (void)find_call(*library, #symbol, calls.name);
  XTTS_CUDA_NEWER_DRIVER_CALLS(XTTS_FIND)
#undef XTTS_FIND
  return calls;
}

constexpr std::uint32_t kNobody = UINT32_MAX;

std::mutex mutex;  // guards the two below
Driver opened;
bool is_open = false;
// fork_count() of the process that opens the driver, or has opened it.
std::atomic<std::uint32_t> opener = kNobody;

Status forked() {
  return {StatusCode::kUnsupported,
          "CUDA cannot be used in a process that was forked after CUDA was begun: start workers "
          "with the method 'spawn', or open the device in the worker alone"};
}

}  // namespace

Result<const Driver*> Driver::open() {
  // In a child of a fork, the mutex may be held for ever.
  std::uint32_t before = kNobody;
  if (!opener.compare_exchange_strong(before, fork_count()) && before != fork_count()) {
    return forked();
  }
  const std::scoped_lock lock(mutex);
  if (is_open) return &opened;
  const Status status = opened.load_and_start();
  is_open = status.ok();
  opener = is_open ? fork_count() : kNobody;
  if (is_open) return &opened;
  return status;
}

Status Driver::load_and_start() {
  XTTS_ASSIGN(calls_, load());
  return start();
}

Status Driver::start() {
  forks_ = fork_count();
  const CallResult begun = calls_.init(0);
  if (begun == kNoDevice) {
    return {StatusCode::kUnsupported,
            "the NVIDIA driver finds no GPU: look at CUDA_VISIBLE_DEVICES and nvidia-smi, or take "
            "the device 'cpu'"};
  }
  if (begun == kDriverMismatch) {
    return {StatusCode::kUnsupported,
            "the NVIDIA driver's library and its kernel module are of different versions: restart "
            "the machine after the update"};
  }
  XTTS_TRY(check(begun, "starting the NVIDIA driver"));
  XTTS_TRY(check(calls_.driver_version(&version_), "asking for the driver's version"));
  if (version_ < kVersionMin) {
    return {StatusCode::kUnsupported,
            formatted("the NVIDIA driver is for CUDA {}: update it to one for CUDA {} or later",
                      version_text(version_), version_text(kVersionMin))};
  }
  return check(calls_.device_count(&device_count_), "counting the GPUs");
}

bool Driver::may_be_called() const noexcept {
  return fork_count() == forks_;
}

Status Driver::check(CallResult result, std::string_view what) const {
  if (result == kSuccess) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  (void)calls_.error_name(result, &name);
  (void)calls_.error_text(result, &text);
  std::string message(what);
  message += ": the NVIDIA driver says ";
  message += text != nullptr ? text : "nothing more than a number";
  message +=
      formatted(" ({})", name != nullptr ? std::string(name) : formatted("error {}", result));
  if (result == kOutOfMemory) {
    message +=
        ". Free memory of the GPU, or take less: fewer slots or smaller batches of a reader, fewer "
        "threads of a build";
  }
  return {StatusCode::kResource, message};
}

}  // namespace xtts::cuda
