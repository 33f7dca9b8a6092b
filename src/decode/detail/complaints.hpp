// What libav says while it works, kept for messages instead of printed, and its error codes as
// Status values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::decode::detail {

// While one of these lives, libav's messages of this thread end here; those of other threads and of
// other users of libav in the process go where they always went. libav's log hook is global, so it
// is set once and never taken back. One thread, one at a time.
class Complaints {
 public:
  Complaints();
  ~Complaints();
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  // Errors only; libav's warnings are mostly about itself.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& first() const noexcept { return first_; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }
  void forget();
  void add(std::string text);

  // The failure of a libav call: `code` is its AVERROR, `operation` what we were about ("opening").
  [[nodiscard]] Status failure(std::string_view operation, int code) const;

 private:
  std::string first_;
  std::string last_;
  std::size_t count_ = 0;
};

// libav's own words for one of its error codes.
[[nodiscard]] std::string error_text(int code);

// A refused allocation is either a lie in a header (the limit below refused it: these bytes will
// fail again) or the machine's real lack of memory. It is the second only when a modest block is
// refused as well.
[[nodiscard]] Status allocation_failure(std::string_view operation);

}  // namespace xtts::decode::detail
