// Tombstones: the records that no clip names any more, as the index lists them. Plain value.
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
};

}  // namespace xtts::pipeline
