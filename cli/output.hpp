// Output: stdout or stderr. It buffers, counts the bytes that it writes, and never raises SIGPIPE.
// When the reader of a pipe has gone (`ls | head`), Output quietly drops the rest. It keeps any
// other failure (a full disk, a closed stdout), and finish() returns it. When nobody reads and a
// stop signal comes, Output gives up the rest (kCancelled). Synchronised inside.
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
  // True once the reader has gone. A command that only lists may stop then.
  [[nodiscard]] bool is_abandoned() const;
  [[nodiscard]] std::size_t width() const;  // columns of the terminal; 80 if unknown

 private:
  void flush_locked();

  const int descriptor_;
  const Buffering buffering_;
  const bool is_terminal_;
  mutable std::mutex mutex_;
  std::string buffer_;
  int failure_ = 0;  // errno of the first failure
};

// Writes all of `text`, however slowly the reader takes it. Returns 0 or errno. EINTR means that a
// stop signal came while, for a moment, the reader took nothing.
[[nodiscard]] int write_all(int descriptor, std::string_view text);

// Ignores SIGPIPE. Fills closed standard descriptors, so that no file of a cache is opened as
// number 1 or 2. Call this first.
void prepare_standard_streams();

}  // namespace xtts::cli
