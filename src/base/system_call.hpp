// What calls of the operating system have in common: a descriptor that is closed, a call that is
// made again, a failure in words.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "xtts/status.hpp"

namespace xtts {

// "opening /a/b: No such file or directory". kNotFound or kResource.
[[nodiscard]] inline Status system_failure(std::string_view operation, const std::string& path,
                                           int error) {
  const StatusCode code =
      error == ENOENT || error == ENOTDIR ? StatusCode::kNotFound : StatusCode::kResource;
  std::string text(operation);
  text += " ";
  text += path;
  text += ": ";
  text += std::generic_category().message(error);
  return {code, std::move(text)};
}

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
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace xtts
