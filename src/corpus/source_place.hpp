// SourcePlace: where the bytes of a source are: a file, or a part of one (a member of a tar, which
// is read where it lies and never unpacked; a value in a page of a Parquet file). Plain value;
// opening is one thread at a time.
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

// A packed page of a Parquet file, which Apache Arrow's library unpacks. It is known by its
// address: all sources in a page share one.
struct PackedPage {
  ByteRange packed;  // in the file
  std::uint64_t unpacked_bytes = 0;
  std::int32_t codec = 0;  // of Arrow's numbers; never stored
};

struct SourcePlace {
  std::string path;                             // of the file to open
  std::optional<ByteRange> range = {};          // unset: all of it
  std::shared_ptr<const PackedPage> page = {};  // set: `range` is within this page, unpacked

  // Equal for equal bytes: what several clips share is known by it. No path holds a NUL.
  [[nodiscard]] std::string key() const;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

// kBadInput where the file has no such part (any more); else what opening it said.
[[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_source(Env& env,
                                                                    const SourcePlace& place);

}  // namespace xtts::corpus
