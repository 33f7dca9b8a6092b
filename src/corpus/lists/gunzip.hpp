// Inflates gzip piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::corpus {

// Inflates the members of a gzip file one after the other, as bytes arrive. One thread.
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // Takes some bytes from the front of `bytes` and appends their content to `out`, at most 256
  // KiB. kInvalidArgument: damaged. kResource: no memory.
  [[nodiscard]] Status take(std::string_view& bytes, std::string& out);
  // True where the bytes taken are whole members, at least one.
  [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }

 private:
  struct State;
  std::unique_ptr<State> state_;  // null: there was no memory for it
  bool is_at_end_ = false;
};

}  // namespace xtts::corpus
