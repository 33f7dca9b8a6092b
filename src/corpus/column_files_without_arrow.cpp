// This file is built in place of arrow/ where Apache Arrow's library is absent.
#include "corpus/column_files.hpp"
#include "corpus/packed_pages.hpp"

namespace xtts::corpus {
namespace {

Status is_missing() {
  return {StatusCode::kUnsupported,
          "is read by Apache Arrow's library, and this program was built without it"};
}

}  // namespace

bool can_read_column_files() noexcept {
  return false;
}

Result<std::unique_ptr<ColumnRows>> open_column_rows(const RandomAccessFile&, ColumnFileKind,
                                                     RowParts) {
  return is_missing();
}

Result<std::shared_ptr<const std::vector<std::byte>>> unpacked(
    const RandomAccessFile&, const std::shared_ptr<const PackedPage>&) {
  return is_missing();
}

}  // namespace xtts::corpus
