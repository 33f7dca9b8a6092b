// The description of an HDF5 shard: its datasets and their attributes (cache-v1.md, section 4b).
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/block.hpp"
#include "store/hdf5_layout.hpp"

namespace xtts::store {

// The index of each dataset in the description, and so the order of their bytes in the file.
enum Hdf5Part : std::size_t {
  kRecordsPart,
  kHeadersPart,
  kFactsPart,
  kFactsOffsetsPart,
  kLengthsPart,
  kIdsPart,
  kOffsetsPart,  // packed columns only
};

struct Hdf5Sizes {
  std::uint64_t record_count = 0;
  std::uint64_t block_count = 0;
  std::uint64_t payload_bytes = 0;  // of all blocks
  std::uint64_t facts_bytes = 0;    // of all blocks
  std::uint64_t id_bytes = 1;       // of each id
  std::uint64_t cut_id_count = 0;   // longer than that
};

[[nodiscard]] Hdf5Description describe_shard(const formats::ColumnSpec& column,
                                             const Hdf5Sizes& sizes);

// True where every shard has a dataset of this name, so that no column may use it.
[[nodiscard]] bool is_taken_name(std::string_view column_name) noexcept;

}  // namespace xtts::store
