#include "doctor/memory_check.hpp"

#include <string>

#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using report::format_counted;
using report::format_size;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
// What a trainer itself needs beside its batches, at least.
constexpr std::uint64_t kSpareBytes = 512 * kMiB;
// The users' own limit for loading without a cache. Kernels and firmware keep a part of 16 GiB.
constexpr std::uint64_t kUsualMemoryBytes = 15 * 1024 * kMiB;

Evidence bytes_row(const std::string& what, std::uint64_t value, const std::string& source) {
  return {.what = what,
          .value = format_size(value),
          .source = source,
          .number = static_cast<double>(value),
          .unit = "bytes"};
}

void judge_ram(const MachineFacts& machine, std::uint64_t ring_bytes, Check& check) {
  if (machine.memory_available_bytes < ring_bytes + kSpareBytes) {
    check.findings.push_back(
        {.status = CheckStatus::kFail,
         .text = "Only " + format_size(machine.memory_available_bytes) +
                 " of memory can be used, and the reader's batches alone take " +
                 format_size(ring_bytes) + ".",
         .remedy = "End other programs, or use a smaller batch or a lower prefetch."});
    return;
  }
  if (machine.memory_total_bytes < kUsualMemoryBytes) {
    check.findings.push_back(
        {.status = CheckStatus::kWarn,
         .text = "The machine has " + format_size(machine.memory_total_bytes) +
                 " of memory. Loaders that compute features on the fly are usually given 16 GiB.",
         .remedy = "Read from a cache, which needs " + format_size(ring_bytes) +
                   " for its batches, or use fewer workers."});
  }
}

// PyTorch's workers hand their batches over in /dev/shm, and die of a bus error where it is full.
void judge_shm(const MachineFacts& machine, const LoaderShape& shape, Check& check) {
  const std::uint32_t workers = shape.worker_count.value_or(0);
  if (!machine.shm_free_bytes || workers == 0) return;
  const std::uint64_t needed = shape.batch_bytes() * workers * shape.batches_ahead;
  if (*machine.shm_free_bytes >= needed) return;
  const bool holds_one_each = *machine.shm_free_bytes >= shape.batch_bytes() * workers;
  check.findings.push_back({.status = holds_one_each ? CheckStatus::kWarn : CheckStatus::kFail,
                            .text = "/dev/shm has " + format_size(*machine.shm_free_bytes) +
                                    " free, and " + format_counted(workers, "worker", "workers") +
                                    " of a PyTorch DataLoader need up to " + format_size(needed) +
                                    " there. A worker that finds it full dies of a bus error.",
                            .remedy = "Give the container a larger one (docker's option shm-size=" +
                                      std::to_string(needed * 2 / kMiB + 1) +
                                      "m), or read from a cache, which does without workers."});
}

}  // namespace

Check check_memory(const MachineFacts& machine, const LoaderShape& shape) {
  Check check{.name = "memory", .title = "Memory"};
  if (machine.memory_total_bytes == 0 || machine.memory_available_bytes == 0) {
    check.summary = "The system does not tell how much memory there is.";
    return check;
  }
  const std::uint64_t ring_bytes = shape.batch_bytes() * shape.slot_count;
  check.evidence.push_back(bytes_row("memory", machine.memory_total_bytes, "/proc/meminfo"));
  check.evidence.push_back(bytes_row("memory that can be used now", machine.memory_available_bytes,
                                     "/proc/meminfo, and the limits of the control group"));
  if (machine.shm_total_bytes)
    check.evidence.push_back(bytes_row("/dev/shm", *machine.shm_total_bytes, "statvfs"));
  if (machine.shm_free_bytes)
    check.evidence.push_back(bytes_row("/dev/shm, free", *machine.shm_free_bytes, "statvfs"));
  check.evidence.push_back(
      machine.lock_limit_bytes
          ? bytes_row("locked memory, limit", *machine.lock_limit_bytes, "ulimit -l")
          : Evidence{.what = "locked memory, limit", .value = "none", .source = "ulimit -l"});
  check.evidence.push_back(bytes_row("the reader's batches", ring_bytes,
                                     format_counted(shape.slot_count, "batch", "batches") + " of " +
                                         format_counted(shape.batch_size, "clip", "clips") +
                                         ", padded"));
  judge_ram(machine, ring_bytes, check);
  judge_shm(machine, shape, check);
  check.status = worst_of(check.findings);
  check.summary = check.findings.empty()
                      ? "There is memory for the batches: " + format_size(ring_bytes) + " of " +
                            format_size(machine.memory_available_bytes) + "."
                      : check.findings.front().text;
  return check;
}

}  // namespace xtts::doctor
