// Block headers and record checks (cache-v1.md, section 5). Bytes <-> structs, no I/O. Pure
// functions, share freely. decode_block_header verifies the header's own check first, then every
// rule of the format, so its result is safe to follow. Failures: kCorrupt (damage; the message
// names the field), kUnsupported (newer version or unknown incompat bit; the message names it).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "formats/constants.hpp"
#include "formats/storage_config.hpp"
#include "xtts/dtype.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// The properties that all blocks of a column share.
struct ColumnSpec {
  std::string name;
  std::uint32_t id = 0;
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // padded shape of one record; axis 0 has the true length
  Layout layout = Layout::kPadded;
  Digest fingerprint;
  Digest numerics;

  [[nodiscard]] std::uint64_t row_bytes() const noexcept;  // one step of axis 0
  [[nodiscard]] std::uint64_t record_bytes() const noexcept {
    return row_bytes() * (shape.empty() ? 0 : shape[0]);
  }
  [[nodiscard]] Geometry geometry() const noexcept { return geometry_of(record_bytes()); }
  [[nodiscard]] Status validate() const;
};

struct BlockRecord {
  Digest id_hash;
  std::uint64_t offset_bytes = 0;  // in the payload
  std::uint32_t length = 0;        // true length of axis 0
  std::uint32_t fill_bits =
      0;  // the fill value: bits of a float32 (or of an int32 for integer columns)
  std::uint64_t check = 0;
};

struct BlockHeader {
  ColumnSpec column;
  std::uint32_t block_index = 0;  // within its shard
  std::uint64_t generation = 1;
  std::uint64_t payload_bytes = 0;
  std::vector<BlockRecord> records;  // 1..64

  // Returns the bytes of record `slot` together with the rest of its region.
  [[nodiscard]] std::uint64_t region_bytes(std::size_t slot) const noexcept;
};

// Places the records of a block: fills in offset_bytes of `records` from their lengths and returns
// the payload bytes.
[[nodiscard]] std::uint64_t lay_out_records(const ColumnSpec& column,
                                            std::span<BlockRecord> records);

[[nodiscard]] std::uint64_t record_check(const BlockHeader& header, std::size_t slot,
                                         std::span<const std::byte> region);

[[nodiscard]] std::array<std::byte, kBlockHeaderBytes> encode_block_header(
    const BlockHeader& header);
[[nodiscard]] Result<BlockHeader> decode_block_header(std::span<const std::byte> bytes);
// Returns the check that a header carries (its last eight bytes), for the shard's table.
[[nodiscard]] std::uint64_t stored_header_check(std::span<const std::byte> header_bytes);

}  // namespace xtts::formats
