// The control of the libcufile.so.0 for tests. It reads files with pread, and writes them to the
// device memory of the adversarial driver (support/cuda_driver/past_driver.hpp). Breaches of
// cuFile's rules are faults of that driver: see fake_cuda::faults().
//
// Any number of threads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#define XTTS_FAKE_CUFILE_API __attribute__((visibility("default")))

namespace xtts::testing::fake_cufile {

struct Options {
  bool has_direct_path = true;    // nvidia-fs lets disks write to the GPU's memory
  bool has_peer_to_peer = false;  // the kernel's PCI P2PDMA does
  // Changes what the nth read, counted from 1, returns: the bytes read, -1 with errno, or the
  // negative code of an error. May be empty.
  std::function<ssize_t(std::uint64_t nth, ssize_t got)> on_read = {};
  // Changes what the nth read brings. May be empty.
  std::function<void(std::uint64_t nth, std::span<std::byte> bytes)> on_bytes = {};
};

// Forgets everything but files and memory that are still known.
XTTS_FAKE_CUFILE_API void reset(const Options& options = {});
// From the nth call of this name ("cuFileBufRegister") on, counted from 1 since reset(), calls
// return `code`, and reads its negative.
XTTS_FAKE_CUFILE_API void fail(const std::string& name, int code, std::uint64_t nth = 1);
[[nodiscard]] XTTS_FAKE_CUFILE_API std::uint64_t call_count(const std::string& name);
// Files and memory that cuFile still knows, in words.
[[nodiscard]] XTTS_FAKE_CUFILE_API std::vector<std::string> leftovers();

}  // namespace xtts::testing::fake_cufile
