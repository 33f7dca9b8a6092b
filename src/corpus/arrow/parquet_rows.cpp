#include "corpus/arrow/parquet_rows.hpp"

#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "corpus/arrow/arrow_call.hpp"
#include "corpus/arrow/arrow_input.hpp"
#include "corpus/arrow/row_columns.hpp"
#include "corpus/arrow/sound_pages.hpp"

namespace xtts::corpus {
namespace {

constexpr std::int64_t kRowsInBatch = 256;
// A few bytes can say that a value repeats endlessly.
constexpr std::int64_t kRowsMax = 50'000'000;

class ParquetRows final : public ColumnRows {
 public:
  ParquetRows(const RandomAccessFile& file, RowParts parts)
      : file_(file), parts_(parts), pool_(arrow::default_memory_pool(), kArrowBytesMax) {}

  Status open() {
    parquet::arrow::FileReaderBuilder builder;
    parquet::ArrowReaderProperties properties(/*use_threads=*/false);
    properties.set_batch_size(kRowsInBatch);
    properties.set_pre_buffer(false);
    XTTS_TRY(to_status(builder.Open(std::make_shared<ArrowInput>(file_, &pool_),
                                    parquet::ReaderProperties(&pool_))));
    builder.memory_pool(&pool_)->properties(properties);
    XTTS_TRY(to_status(builder.Build(&reader_)));
    metadata_ = reader_->parquet_reader()->metadata();
    if (metadata_->num_rows() < 0 || metadata_->num_rows() > kRowsMax)
      return damaged("it has " + std::to_string(metadata_->num_rows()) + " rows");
    std::shared_ptr<arrow::Schema> schema;
    XTTS_TRY(to_status(reader_->GetSchema(&schema)));
    XTTS_ASSIGN(columns_, RowColumns::of(*schema));
    if (parts_ != RowParts::kFields) XTTS_TRY(open_sound());
    if (parts_ != RowParts::kSound) XTTS_TRY(open_fields(*schema));
    return {};
  }

  [[nodiscard]] Result<std::optional<ColumnRow>> next() override {
    return call_arrow([&] { return next_row(); });
  }
  [[nodiscard]] const std::string& left_out() const override { return columns_->left_out(); }

 private:
  // The path of a column that holds values, as steps: "audio.bytes".
  [[nodiscard]] std::vector<std::string> steps_of(int leaf) const {
    return metadata_->schema()->Column(leaf)->path()->ToDotVector();
  }

  Status open_sound() {
    std::vector<std::string> steps{columns_->sound_name()};
    if (columns_->bytes_in_struct() >= 0) steps.emplace_back("bytes");
    for (int leaf = 0; leaf < metadata_->num_columns(); ++leaf) {
      if (steps_of(leaf) != steps) continue;
      const auto* const column = metadata_->schema()->Column(leaf);
      if (column->max_repetition_level() > 0 ||
          column->physical_type() != parquet::Type::BYTE_ARRAY) {
        break;
      }
      sound_.emplace(file_, &pool_, *metadata_, leaf);
      return {};
    }
    return damaged("its column of sound has no bytes");
  }

  Status open_fields(const arrow::Schema& schema) {
    std::vector<std::string> names;
    for (const int column : columns_->fields()) names.push_back(schema.field(column)->name());
    std::vector<int> leaves;
    for (int leaf = 0; leaf < metadata_->num_columns(); ++leaf) {
      const auto steps = steps_of(leaf);
      const bool is_field = std::find(names.begin(), names.end(), steps.front()) != names.end();
      const bool is_path = steps.size() == 2 && steps[0] == columns_->sound_name() &&
                           steps[1] == "path" && columns_->bytes_in_struct() >= 0;
      if (is_field || is_path) leaves.push_back(leaf);
    }
    if (leaves.empty()) return {};
    std::vector<int> row_groups(static_cast<std::size_t>(metadata_->num_row_groups()));
    std::iota(row_groups.begin(), row_groups.end(), 0);
    auto batches = reader_->GetRecordBatchReader(row_groups, leaves);
    if (!batches.ok()) return to_status(batches.status());
    batches_ = std::move(*batches);
    return {};
  }

  Result<std::optional<ColumnRow>> next_row() {
    if (row_ == metadata_->num_rows()) return std::optional<ColumnRow>();
    ColumnRow row;
    if (batches_ != nullptr) {
      while (batch_ == nullptr || batch_row_ == batch_->num_rows()) XTTS_TRY(next_batch());
      columns_->read(*batch_, batch_row_++, row);
    }
    if (sound_) {
      XTTS_ASSIGN(auto part, sound_->next());
      if (part) {
        row.sound = part->range;
        row.page = std::move(part->page);
      }
    }
    ++row_;
    return std::optional<ColumnRow>(std::move(row));
  }

  Status next_batch() {
    batch_row_ = 0;
    XTTS_TRY(to_status(batches_->ReadNext(&batch_)));
    return batch_ == nullptr ? damaged("it has fewer rows than it says") : Status();
  }

  const RandomAccessFile& file_;
  const RowParts parts_;
  arrow::CappedMemoryPool pool_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::optional<RowColumns> columns_;
  std::optional<SoundPages> sound_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t batch_row_ = 0;
  std::int64_t row_ = 0;
};

}  // namespace

Result<std::unique_ptr<ColumnRows>> open_parquet_rows(const RandomAccessFile& file,
                                                      RowParts parts) {
  auto rows = std::make_unique<ParquetRows>(file, parts);
  XTTS_TRY(call_arrow([&] { return rows->open(); }));
  return std::unique_ptr<ColumnRows>(std::move(rows));
}

}  // namespace xtts::corpus
