// What calls of the operating system have in common: a descriptor that is closed, a call that is
// made again, a failure in words. A failure for want of descriptors or memory counts as a shortage
// (shortage.hpp).
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "xtts/status.hpp"

namespace xtts {

// "No such file or directory"; of a limit that the user can raise, how.
[[nodiscard]] std::string error_words(int error);

// "opening /a/b: No such file or directory". kNotFound or kResource.
[[nodiscard]] Status system_failure(std::string_view operation, const std::string& path, int error);

// Once more while signals interrupt it.
template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
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
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace xtts
