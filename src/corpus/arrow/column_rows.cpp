#include "corpus/arrow/parquet_rows.hpp"
#include "corpus/arrow/stream_rows.hpp"
#include "corpus/column_files.hpp"

namespace xtts::corpus {

bool can_read_column_files() noexcept {
  return true;
}

Result<std::unique_ptr<ColumnRows>> open_column_rows(const RandomAccessFile& file,
                                                     ColumnFileKind kind, RowParts parts) {
  if (kind == ColumnFileKind::kArrowStream) return open_stream_rows(file, parts);
  return open_parquet_rows(file, parts);
}

}  // namespace xtts::corpus
