// ShardAssembler: puts records, in canonical order, into blocks, and blocks into shard images
// (formats/cache-v1.md, section 3).
//
// A block ends when it holds K records or when data set or split change; a shard ends where the
// caller says so. A full block is written into the image at once, so at most K records are held
// besides the image. One thread at a time. Failures: those of the image.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "store/shard_image.hpp"
#include "xtts/record_rows.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct AssembledRecord {
  RecordRows made;
  std::vector<double> sums;
  formats::RecordFacts facts;  // id, data set and split say whose record it is
};

class ShardAssembler {
 public:
  // Buffers of written records go back to `recycle`, if there is one.
  ShardAssembler(const formats::ColumnSpec& column, formats::StoreKind store,
                 std::uint64_t generation,
                 std::function<void(std::vector<std::byte>)> recycle = {});

  [[nodiscard]] Status add(AssembledRecord record);
  // Ends the shard: its image, or nothing when no record was added. The next add begins a new one.
  [[nodiscard]] Result<std::unique_ptr<store::ShardImage>> end_shard();

 private:
  [[nodiscard]] Status flush();

  formats::ColumnSpec column_;
  formats::StoreKind store_;
  std::uint64_t generation_;
  std::function<void(std::vector<std::byte>)> recycle_;
  std::vector<AssembledRecord> block_;
  std::unique_ptr<store::ShardImage> image_;
};

}  // namespace xtts::pipeline
