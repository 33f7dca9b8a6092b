// ImageContainer decides where the bytes of a shard's image lie and writes the bytes between them.
// The stores differ only in this. Headers, payloads, facts values and their checks are the same
// bytes in each (shard_image.cpp makes them), so that a conversion copies them.
//
// One thread at a time. Failures: kResource (memory refused, shard full), kInternal (the library
// did not lay the file out as the format promises). After a failure the container can only be
// destroyed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/shard_table.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// The memory for a block; the payload's is zero. Valid until the next call.
struct BlockMemory {
  std::span<std::byte> header;  // kBlockHeaderBytes
  std::span<std::byte> payload;
};

struct LaidOutImage {
  std::span<const std::byte> bytes;         // of the file; valid while the container lives
  std::vector<formats::BlockPlace> places;  // offsets and sizes; their checks are not yet known
};

class ImageContainer {
 public:
  virtual ~ImageContainer() = default;
  // `header` has its records laid out, but not yet their checks.
  [[nodiscard]] virtual Result<BlockMemory> add_block(const formats::BlockHeader& header,
                                                      const formats::BlockFacts& facts) = 0;
  // Puts the blocks' encoded facts in and closes the file. No block is added after this point.
  [[nodiscard]] virtual Result<LaidOutImage> finish(std::vector<std::string> facts) = 0;
};

// Both functions need a valid column. For an LMDB shard (cache-v1.md, section 4). kUnsupported:
// pages are not 4,096 bytes.
[[nodiscard]] Result<std::unique_ptr<ImageContainer>> make_lmdb_container(
    const formats::ColumnSpec& column);
// For an HDF5 shard (cache-v1.md, section 4b). kInvalidArgument: the column has the name of
// another dataset.
[[nodiscard]] Result<std::unique_ptr<ImageContainer>> make_hdf5_container(
    const formats::ColumnSpec& column);

// Copies all bytes outside `values` (ascending) from the library's pages to the same places of the
// image. `what` names the values in messages ("HDF5's datasets"). kInternal: they overlap or lie
// outside.
[[nodiscard]] Status copy_structure(std::span<const std::byte> pages, const char* what,
                                    std::span<const formats::ByteRange> values,
                                    std::span<std::byte> image);

}  // namespace xtts::store
