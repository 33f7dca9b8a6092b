// Rows in a scratch file, each a key and a text, read from a range of it through a window. Only the
// process that wrote them reads them. One thread at a time. Failures: kResource, kCorrupt (the file
// was cut meanwhile).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

void append_scratch_row(std::string_view key, std::string_view row, std::string& out);

class ScratchRows {
 public:
  ScratchRows(std::shared_ptr<const RandomAccessFile> file, std::uint64_t offset_bytes,
              std::uint64_t size_bytes, std::uint64_t window_bytes)
      : file_(std::move(file)),
        offset_bytes_(offset_bytes),
        left_bytes_(size_bytes),
        window_bytes_(window_bytes) {}

  // False: no more rows. Views of the row before are void.
  [[nodiscard]] Result<bool> next();
  [[nodiscard]] std::string_view key() const { return key_; }
  [[nodiscard]] std::string_view row() const { return row_; }

 private:
  // Makes `size_bytes` from at_ on available.
  [[nodiscard]] Status hold(std::size_t size_bytes);

  std::shared_ptr<const RandomAccessFile> file_;
  std::uint64_t offset_bytes_;  // of the first byte that is not in the window
  std::uint64_t left_bytes_;    // behind it
  const std::uint64_t window_bytes_;
  std::string window_;
  std::size_t at_ = 0;
  std::string_view key_, row_;
};

}  // namespace xtts::plan
