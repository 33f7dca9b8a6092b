// Memory of devices, and careful access to memory of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace xtts::testing::fake_cuda {

// ClosedMemory maps the same pages twice. The program sees one mapping, which nobody may touch. The
// driver itself uses the other one. Its bytes are 0xEE at first.
//
// After close() the program's mapping stays, without pages, so no later memory gets its address.
class ClosedMemory {
 public:
  // The memory begins at `offset_bytes` of the first page.
  ClosedMemory(std::size_t size_bytes, std::size_t offset_bytes);
  ~ClosedMemory();
  ClosedMemory(const ClosedMemory&) = delete;
  ClosedMemory& operator=(const ClosedMemory&) = delete;

  [[nodiscard]] bool is_there() const;
  [[nodiscard]] std::uint64_t shown() const {
    return reinterpret_cast<std::uint64_t>(shown_) + offset_bytes_;
  }
  [[nodiscard]] std::byte* own() const { return static_cast<std::byte*>(own_) + offset_bytes_; }
  void close();

 private:
  std::size_t offset_bytes_;
  std::size_t size_bytes_;  // whole pages
  void* shown_ = nullptr;
  void* own_ = nullptr;
};

// While it lives, the thread sanitizer does not watch this thread's memory. Races in device memory
// are the driver's to find, in its own words.
class UnwatchedAccess {
 public:
  UnwatchedAccess();
  ~UnwatchedAccess();
  UnwatchedAccess(const UnwatchedAccess&) = delete;
  UnwatchedAccess& operator=(const UnwatchedAccess&) = delete;
};

// Memory of the host may be gone by now: these return false instead of dying.
[[nodiscard]] bool read_host(const std::byte* from, std::span<std::byte> to);
[[nodiscard]] bool write_host(std::byte* to, std::span<const std::byte> from);
[[nodiscard]] bool is_mapped(const std::byte* memory, std::size_t size_bytes);
// Nothing: the memory is gone.
[[nodiscard]] std::optional<std::uint64_t> hash_host(const std::byte* memory,
                                                     std::size_t size_bytes);

}  // namespace xtts::testing::fake_cuda
