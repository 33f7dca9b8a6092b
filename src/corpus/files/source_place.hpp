// SourcePlace: where the bytes of a source are: a whole file, or a part of one. A part is a range,
// read in place (a member of a tar, a value in an Arrow stream), or the sound of a row. Plain
// value; opening is one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

struct ByteRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct SourcePlace {
  std::string path;                     // of the file to open
  std::optional<ByteRange> range = {};  // unset: the whole file
  // Set: the sound of this row, which Python reads (column_files.hpp). `range` then says about
  // where it is and how long.
  std::optional<std::uint64_t> row = {};

  // Equal keys mean equal bytes: clips that share a source share its key. No path holds a NUL.
  [[nodiscard]] std::string key() const;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

// kBadInput: the file does not have (or no longer has) this part. Else the failure of opening it.
[[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_source(Env& env,
                                                                    const SourcePlace& place);

}  // namespace xtts::corpus
