// Helpers for system calls: an owned descriptor, an owned mapping, retries, complete reads and
// writes, failures in words. A lack of descriptors or memory counts as a shortage (shortage.hpp).
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "xtts/status.hpp"

namespace xtts {

// "No such file or directory"; for a limit that the user can raise, also how.
[[nodiscard]] std::string error_words(int error);

// "opening /a/b: No such file or directory". kNotFound or kResource.
[[nodiscard]] Status system_failure(std::string_view operation, const std::string& path, int error);

// Repeats a call while signals interrupt it.
template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other && fd_ >= 0) ::close(fd_);
    fd_ = other.release();
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

class Mapping {
 public:
  Mapping() = default;
  // `memory`: the result of mmap() for `size_bytes`.
  Mapping(void* memory, std::size_t size_bytes) noexcept {
    if (memory != MAP_FAILED) bytes_ = {static_cast<std::byte*>(memory), size_bytes};
  }
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }

  // False: mmap() failed; errno says why.
  [[nodiscard]] explicit operator bool() const noexcept { return !bytes_.empty(); }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Reads from the offset until `out` is full or the file ends; returns the number of bytes. `path`:
// for the message.
[[nodiscard]] Result<std::size_t> read_fully(int fd, const std::string& path,
                                             std::uint64_t offset_bytes, std::span<std::byte> out);
// Writes all bytes at the file's current position.
[[nodiscard]] Status write_fully(int fd, const std::string& path, std::span<const std::byte> bytes);
// Reads a kernel's file, which tells no size, up to 1 MiB. Empty: there is none.
[[nodiscard]] std::string read_kernel_text(const std::string& path);
// Resolves a path: absolute, without symbolic links. nullopt, with errno: it leads nowhere.
[[nodiscard]] std::optional<std::string> resolved_path(const std::string& path);

}  // namespace xtts
