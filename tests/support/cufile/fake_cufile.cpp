#include "support/cufile/fake_cufile.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "cufile/cufile_calls.hpp"
#include "support/cuda_driver/past_driver.hpp"

namespace xtts::testing::fake_cufile {
namespace {

using cufile::CallError;
using cufile::DriverProperties;
using cufile::FileDescription;
using cufile::FileHandle;

constexpr int kInvalidValue = 5022;
constexpr int kAlreadyRegistered = 5023;
constexpr int kNotRegistered = 5024;
constexpr std::uint64_t kPageBytes = 4096;

struct State {
  std::mutex mutex;
  Options options;
  std::map<std::string, std::uint64_t> counts;
  struct Failure {
    int code = 0;
    std::uint64_t nth = 1;
  };
  std::map<std::string, Failure> failures;
  std::map<std::uintptr_t, int> files;  // descriptors by handle
  std::map<const std::byte*, std::size_t> memories;
  std::uintptr_t next_handle = 0x1000;
  std::uint64_t read_count = 0;
  bool is_started = false;
};

State& state() {
  static State& one = *new State;  // files may go after all destructors
  return one;
}

// `body` takes the State, whose mutex is held, and returns a code.
template <typename Body>
CallError make_call(const char* name, Body body) {
  if (!fake_cuda::check_caller(name)) return {.code = kInvalidValue, .driver_code = 0};
  State& now = state();
  const std::scoped_lock lock(now.mutex);
  const std::uint64_t count = ++now.counts[name];
  const auto failure = now.failures.find(name);
  if (failure != now.failures.end() && count >= failure->second.nth) {
    return {.code = failure->second.code, .driver_code = 0};
  }
  return {.code = body(now), .driver_code = 0};
}

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

}  // namespace

void reset(const Options& options) {
  State& now = state();
  const std::scoped_lock lock(now.mutex);
  now.options = options;
  now.counts.clear();
  now.failures.clear();
  now.read_count = 0;
}

void fail(const std::string& name, int code, std::uint64_t nth) {
  State& now = state();
  const std::scoped_lock lock(now.mutex);
  now.failures[name] = {.code = code, .nth = nth};
}

std::uint64_t call_count(const std::string& name) {
  State& now = state();
  const std::scoped_lock lock(now.mutex);
  return now.counts[name];
}

std::vector<std::string> leftovers() {
  State& now = state();
  const std::scoped_lock lock(now.mutex);
  std::vector<std::string> left;
  for (const auto& [handle, descriptor] : now.files) {
    left.push_back("the file with descriptor " + std::to_string(descriptor));
  }
  for (const auto& [memory, size_bytes] : now.memories) {
    left.push_back(std::to_string(size_bytes) + " bytes of memory");
  }
  return left;
}

extern "C" {

#define XTTS_DECLARE(name, symbol, result, parameters) \
  XTTS_FAKE_CUFILE_API result symbol parameters;
XTTS_CUFILE_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE

CallError cuFileDriverOpen() {
  return make_call("cuFileDriverOpen", [](State& now) {
    now.is_started = true;
    return cufile::kSuccess;
  });
}

CallError cuFileDriverGetProperties(DriverProperties* properties) {
  return make_call("cuFileDriverGetProperties", [&](State& now) {
    if (!now.is_started) return cufile::kModuleNotLoaded;
    properties->nvidia_fs.supported = now.options.has_direct_path ? 1U << 4U : 0U;
    properties->features = now.options.has_peer_to_peer ? cufile::kFeaturePeerToPeer : 0U;
    return cufile::kSuccess;
  });
}

// Newer libraries tell it.
#if defined(XTTS_FAKE_CUFILE_VERSION)
XTTS_FAKE_CUFILE_API CallError cuFileGetVersion(int* version) {
  *version = XTTS_FAKE_CUFILE_VERSION;
  return {.code = cufile::kSuccess, .driver_code = 0};
}
#endif

CallError cuFileHandleRegister(FileHandle* file, FileDescription* description) {
  return make_call("cuFileHandleRegister", [&](State& now) {
    if (!now.is_started) return cufile::kModuleNotLoaded;
    if (description->type != 1 || !is_open(description->descriptor)) return kInvalidValue;
    const std::uintptr_t handle = now.next_handle += 16;
    now.files[handle] = description->descriptor;
    *file = reinterpret_cast<FileHandle>(handle);
    return cufile::kSuccess;
  });
}

void cuFileHandleDeregister(FileHandle file) {
  (void)make_call("cuFileHandleDeregister", [&](State& now) {
    const auto found = now.files.find(reinterpret_cast<std::uintptr_t>(file));
    if (found == now.files.end()) {
      fake_cuda::note_fault("cuFileHandleDeregister: cuFile does not know the file");
      return kInvalidValue;
    }
    if (!is_open(found->second)) {
      fake_cuda::note_fault("cuFileHandleDeregister: the file was closed before");
    }
    now.files.erase(found);
    return cufile::kSuccess;
  });
}

CallError cuFileBufRegister(const void* memory, std::size_t size_bytes, int flags) {
  return make_call("cuFileBufRegister", [&](State& now) {
    if (!now.is_started) return cufile::kModuleNotLoaded;
    const auto* const bytes = static_cast<const std::byte*>(memory);
    const auto address = reinterpret_cast<cuda::DeviceAddress>(memory);
    if (flags != 0 || size_bytes == 0 || address % kPageBytes != 0 ||
        !fake_cuda::check_device_memory("cuFileBufRegister", address, size_bytes)) {
      return kInvalidValue;
    }
    return now.memories.emplace(bytes, size_bytes).second ? cufile::kSuccess : kAlreadyRegistered;
  });
}

CallError cuFileBufDeregister(const void* memory) {
  return make_call("cuFileBufDeregister", [&](State& now) {
    const auto found = now.memories.find(static_cast<const std::byte*>(memory));
    if (found == now.memories.end()) {
      fake_cuda::note_fault("cuFileBufDeregister: cuFile does not know the memory");
      return kNotRegistered;
    }
    // A fault where the memory was freed before.
    (void)fake_cuda::check_device_memory(
        "cuFileBufDeregister", reinterpret_cast<cuda::DeviceAddress>(memory), found->second);
    now.memories.erase(found);
    return cufile::kSuccess;
  });
}

ssize_t cuFileRead(FileHandle file, void* memory, std::size_t size_bytes, off_t file_offset,
                   off_t memory_offset) {
  int descriptor = -1;
  std::uint64_t nth = 0;
  const CallError error = make_call("cuFileRead", [&](State& now) {
    const auto found = now.files.find(reinterpret_cast<std::uintptr_t>(file));
    const auto known = now.memories.find(static_cast<const std::byte*>(memory));
    if (found == now.files.end() || known == now.memories.end()) {
      fake_cuda::note_fault("cuFileRead: cuFile does not know the file or the memory");
      return kNotRegistered;
    }
    const bool is_inside = memory_offset >= 0 && size_bytes <= known->second &&
                           static_cast<std::size_t>(memory_offset) <= known->second - size_bytes;
    if (!is_inside) {
      fake_cuda::note_fault("cuFileRead: reads behind the memory's end");
      return kInvalidValue;
    }
    if ((size_bytes | file_offset | memory_offset) % kPageBytes != 0) {
      fake_cuda::note_fault("cuFileRead: is not of whole pages, so cuFile would copy");
    }
    descriptor = found->second;
    nth = ++now.read_count;
    return cufile::kSuccess;
  });
  if (error.code != cufile::kSuccess) return -error.code;
  // Files that were opened for direct reads are read into whole pages.
  const std::unique_ptr<std::byte, decltype(&std::free)> buffer(
      static_cast<std::byte*>(
          std::aligned_alloc(kPageBytes, (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes)),
      &std::free);
  const std::span<std::byte> bytes(buffer.get(), size_bytes);
  ssize_t got = ::pread(descriptor, bytes.data(), size_bytes, file_offset);
  Options options;
  {
    const std::scoped_lock lock(state().mutex);
    options = state().options;
  }
  if (options.on_read) got = options.on_read(nth, got);
  const int failed = errno;
  const auto written = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  if (options.on_bytes) options.on_bytes(nth, bytes.first(written));
  const auto address =
      reinterpret_cast<cuda::DeviceAddress>(memory) + static_cast<std::uint64_t>(memory_offset);
  if (written > 0 && !fake_cuda::write_past_driver("cuFileRead", address, bytes.first(written))) {
    return -kInvalidValue;
  }
  errno = failed;
  return got;
}

}  // extern "C"
}  // namespace xtts::testing::fake_cufile
