// Tombstones: the records that no clip names any more, in the form of the index. Plain value.
#pragma once

#include <cstdint>
#include <string>

#include "formats/index.hpp"

namespace xtts::pipeline {

struct Tombstones {
  std::string rows;
  std::uint64_t count = 0;

  void add(const formats::TombstoneRow& row) {
    append_row(row, rows);
    ++count;
  }
  // Adds the record at this location, if there is one.
  void add(std::uint32_t column_id, const formats::LocationRow& record) {
    if (record.block_row != formats::kNoRecord)
      add({.column_id = column_id, .block_row = record.block_row, .slot = record.slot});
  }
};

}  // namespace xtts::pipeline
