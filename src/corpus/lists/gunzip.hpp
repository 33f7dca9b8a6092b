// gzip, piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::corpus {

// Inflates the members of a gzip file, one after the other, as their bytes come in. One thread.
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // Takes some of `bytes` off their front, and appends what they hold to `out`: 256 KiB at most.
  // kInvalidArgument: damaged. kResource: no memory.
  [[nodiscard]] Status take(std::string_view& bytes, std::string& out);
  // Whether all that was taken is whole members, and at least one.
  [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }

 private:
  struct State;
  std::unique_ptr<State> state_;  // null: there was no memory for it
  bool is_at_end_ = false;
};

}  // namespace xtts::corpus
