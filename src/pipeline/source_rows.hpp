// Rows of a source table, for clips of a plan. Pure functions.
#pragma once

#include "corpus/clips/clip.hpp"
#include "formats/clip_id.hpp"
#include "store/source_table.hpp"

namespace xtts::pipeline {

[[nodiscard]] inline store::SourceRow source_row_of(const corpus::Clip& clip) {
  return {.id_hash = formats::id_hash(clip.dataset, clip.id),
          .size_bytes = clip.source_bytes,
          .mtime_ns = clip.source_mtime_ns,
          .ctime_ns = clip.source_ctime_ns,
          .inode = clip.source_inode};
}

// True where the source is the very file of the row, below the same folders.
[[nodiscard]] inline bool is_same_file(const store::SourceRow& row, const corpus::Clip& clip) {
  return row.size_bytes == clip.source_bytes && row.mtime_ns == clip.source_mtime_ns &&
         row.ctime_ns == clip.source_ctime_ns && row.inode == clip.source_inode;
}

}  // namespace xtts::pipeline
