// Rows of a Parquet file, in the form of the Hugging Face Hub. See column_files.hpp.
#pragma once

#include <memory>

#include "corpus/column_files.hpp"

namespace xtts::corpus {

[[nodiscard]] Result<std::unique_ptr<ColumnRows>> open_parquet_rows(const RandomAccessFile& file,
                                                                    RowParts parts);

}  // namespace xtts::corpus
