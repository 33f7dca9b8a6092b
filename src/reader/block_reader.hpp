// Reads a block's header, facts and records from its row in the index and checks them
// (cache-v1.md, sections 5 and 6). The chain of trust: the index row carries the header's check,
// the header carries its records' checks and places. Pure except for the reads; any number of
// threads. Failures: kCorrupt (names file, offset and part), kUnsupported, kResource.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "reader/shard_files.hpp"

namespace xtts::reader {

// Checks that header bytes from `place` in the file `name` match the index and the column.
[[nodiscard]] Result<formats::BlockHeader> check_block_header(std::span<const std::byte> bytes,
                                                              std::string_view name,
                                                              const formats::BlockPlace& place,
                                                              const formats::ColumnSpec& column);
[[nodiscard]] Result<formats::BlockFacts> check_block_facts(std::span<const std::byte> bytes,
                                                            std::string_view name,
                                                            const formats::BlockPlace& place);

// Reads bytes of a shard. A failure mentions a wrong length of its file.
[[nodiscard]] Result<std::vector<std::byte>> read_of_shard(const ShardFile& shard,
                                                           std::uint64_t offset_bytes,
                                                           std::uint64_t size_bytes);
[[nodiscard]] Result<formats::BlockHeader> read_block_header(const ShardFile& shard,
                                                             const formats::BlockPlace& place,
                                                             const formats::ColumnSpec& column);
[[nodiscard]] Result<formats::BlockFacts> read_block_facts(const ShardFile& shard,
                                                           const formats::BlockPlace& place);
// The record's region, padding included.
[[nodiscard]] Result<std::vector<std::byte>> read_record_region(const ShardFile& shard,
                                                                const formats::BlockPlace& place,
                                                                const formats::BlockHeader& header,
                                                                std::size_t slot);

}  // namespace xtts::reader
