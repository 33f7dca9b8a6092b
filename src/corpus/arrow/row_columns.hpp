// RowColumns: the meaning of a schema's columns, and the rows of its batches. Immutable, share
// freely.
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
  // kBadInput: no column holds encoded sound. That is a struct with `bytes` (of several, the one
  // named audio), else a column of bytes with a name for sound.
  [[nodiscard]] static Result<RowColumns> of(const arrow::Schema& schema);

  [[nodiscard]] int sound() const { return sound_; }
  // Index of the field `bytes` in the sound's struct; -1: the column itself holds bytes.
  [[nodiscard]] int bytes_in_struct() const { return bytes_in_struct_; }
  [[nodiscard]] const std::string& sound_name() const { return sound_name_; }
  // Columns that JSON can express, without the sound.
  [[nodiscard]] const std::vector<int>& fields() const { return fields_; }
  [[nodiscard]] const std::string& left_out() const { return left_out_; }

  // Columns are found by name, so `batch` may lack some.
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
