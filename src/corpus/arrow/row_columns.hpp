// RowColumns: which columns of a schema say what of a row, and the row that a batch of them has.
// Immutable, share freely.
#pragma once

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/column_files.hpp"

namespace xtts::corpus {

class RowColumns {
 public:
  // kBadInput where no column holds encoded sound: a struct with `bytes`, named audio where several
  // are such; else a column of bytes that is named like sound.
  [[nodiscard]] static Result<RowColumns> of(const arrow::Schema& schema);

  [[nodiscard]] int sound() const { return sound_; }
  // The field `bytes` of the sound's struct; -1: the column itself is bytes.
  [[nodiscard]] int bytes_in_struct() const { return bytes_in_struct_; }
  [[nodiscard]] const std::string& sound_name() const { return sound_name_; }
  // Columns that JSON can say, without the sound's.
  [[nodiscard]] const std::vector<int>& fields() const { return fields_; }
  [[nodiscard]] const std::string& left_out() const { return left_out_; }

  // The columns are found by their names, so that `batch` may lack some.
  void read(const arrow::RecordBatch& batch, std::int64_t row, ColumnRow& out) const;

 private:
  int sound_ = -1;
  int bytes_in_struct_ = -1;
  std::string sound_name_;
  std::vector<int> fields_;
  std::vector<std::string> names_;
  std::string left_out_;
};

}  // namespace xtts::corpus
