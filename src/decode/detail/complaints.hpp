// Keeps libav's messages for our own messages instead of printing them, and turns libav's error
// codes into Status values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::decode::detail {

// While one of these lives, it receives the libav messages of its thread. Messages of other
// threads, and of other users of libav in the process, go where they went before. libav's log hook
// is global, so it is set once and never removed. One thread, one at a time.
class Complaints {
 public:
  Complaints();
  ~Complaints();
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  // Counts errors only; libav's warnings are mostly about itself.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& first() const noexcept { return first_; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }
  void forget();
  void add(std::string text);

  // The failure of a libav call. `code`: its AVERROR. `operation`: the step that failed
  // ("opening").
  [[nodiscard]] Status failure(std::string_view operation, int code) const;

 private:
  std::string first_;
  std::string last_;
  std::size_t count_ = 0;
};

// libav's own text for one of its error codes.
[[nodiscard]] std::string error_text(int code);

// A refused allocation has two causes: a lie in a header (our limit refused it, and these bytes
// will fail again), or a real lack of memory in the machine. It is lack of memory only if a modest
// block is refused as well.
[[nodiscard]] Status allocation_failure(std::string_view operation);

}  // namespace xtts::decode::detail
