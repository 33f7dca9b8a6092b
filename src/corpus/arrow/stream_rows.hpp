// Rows of an Arrow stream that load_from_disk() reads. Each binary value is in one piece, so the
// sound is read in place. See column_files.hpp.
#pragma once

#include <memory>

#include "corpus/column_files.hpp"

namespace xtts::corpus {

[[nodiscard]] Result<std::unique_ptr<ColumnRows>> open_stream_rows(const RandomAccessFile& file,
                                                                   RowParts parts);

}  // namespace xtts::corpus
