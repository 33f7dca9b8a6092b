// Rows of an Arrow stream, as load_from_disk() reads them. Its binary values lie in one piece each,
// so that sound is read where it lies. See column_files.hpp.
#pragma once

#include <memory>

#include "corpus/column_files.hpp"

namespace xtts::corpus {

[[nodiscard]] Result<std::unique_ptr<ColumnRows>> open_stream_rows(const RandomAccessFile& file,
                                                                   RowParts parts);

}  // namespace xtts::corpus
