#include "pipeline/column_rows.hpp"

#include "base/try.hpp"

namespace xtts::pipeline {

Status take_over(reader::CacheView& published, std::uint32_t column, ColumnRows& rows) {
  rows.shards = published.manifest().columns[column].shards;
  rows.block_count = published.block_count(column);
  for (std::uint64_t row = 0; row < rows.block_count; ++row) {
    XTTS_ASSIGN(const auto block, published.block(column, row));
    append_row(block, rows.block_rows);
  }
  return {};
}

}  // namespace xtts::pipeline
