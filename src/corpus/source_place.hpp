// SourcePlace: where the bytes of a source are: a whole file, or a part of one. A part is a member
// of a tar, read in place and never unpacked, or a value in a page of a Parquet file. Plain value;
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

// A packed page of a Parquet file, which Apache Arrow's library unpacks. All sources in a page
// share one object, so its address identifies the page.
struct PackedPage {
  ByteRange packed;  // in the file
  std::uint64_t unpacked_bytes = 0;
  std::int32_t codec = 0;  // Arrow's number; never stored
};

struct SourcePlace {
  std::string path;                             // of the file to open
  std::optional<ByteRange> range = {};          // unset: the whole file
  std::shared_ptr<const PackedPage> page = {};  // set: `range` is within this page, unpacked

  // Equal keys mean equal bytes: clips that share a source share its key. No path holds a NUL.
  [[nodiscard]] std::string key() const;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

// kBadInput: the file does not have (or no longer has) this part. Else the failure of opening it.
[[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_source(Env& env,
                                                                    const SourcePlace& place);

}  // namespace xtts::corpus
