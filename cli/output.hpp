// Output: stdout or stderr. Buffered, counts what it writes, and never raises SIGPIPE: when the
// reader at the other end has gone (`ls | head`), the rest is thrown away quietly; any other
// failure (a full disk, a closed stdout) is kept and told by finish(); where nobody reads and a
// signal to stop comes, the rest is given up (kCancelled). Synchronised inside.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::cli {

enum class Buffering { kFull, kNone };

class Output {
 public:
  Output(int descriptor, Buffering buffering);

  void write(std::string_view text);
  void flush();
  // Flushes. kResource when something could not be written.
  [[nodiscard]] Status finish();

  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }
  // True once nobody reads any more: a command that only lists may stop.
  [[nodiscard]] bool is_abandoned() const;
  [[nodiscard]] std::size_t width() const;  // columns of the terminal; 80 where it does not say

 private:
  void flush_locked();

  const int descriptor_;
  const Buffering buffering_;
  const bool is_terminal_;
  mutable std::mutex mutex_;
  std::string buffer_;
  int failure_ = 0;  // errno of the first failure
};

// All of it, however slowly it is taken. 0 or errno; EINTR: a signal to stop came, and for a moment
// nobody took anything.
[[nodiscard]] int write_patiently(int descriptor, std::string_view text);

// Ignores SIGPIPE, and fills closed standard descriptors so that no file of a cache is opened as
// number 1 or 2. Call first.
void prepare_standard_streams();

}  // namespace xtts::cli
