// ColumnRows: the rows of a Parquet file or an Arrow stream, as Hugging Face data sets are stored.
// A row has the values of its columns and the place of its sound's bytes in the file.
//
// The sound itself is never read here, only its place, so a shard of a gigabyte costs some small
// reads a row. Apache Arrow's library parses all foreign bytes, with bounded memory. Builds
// without the library have these functions too, but can read no rows. One thread at a time; a
// ColumnRows is a view of its file.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.hpp"
#include "corpus/source_place.hpp"

namespace xtts::corpus {

enum class ColumnFileKind : std::uint8_t { kParquet, kArrowStream };

// The kind that the suffix of `path` means; nullopt: neither kind.
[[nodiscard]] std::optional<ColumnFileKind> column_file_kind(std::string_view path);
// Whether the file begins with the mark of its kind.
[[nodiscard]] Result<bool> begins_as(const RandomAccessFile& file, ColumnFileKind kind);

struct ColumnRow {
  nlohmann::json fields = nlohmann::json::object();  // all columns but the sound
  std::string audio_path;                            // from the sound's column; may be empty
  std::optional<ByteRange> sound;                    // unset: the row has no sound
  std::shared_ptr<const PackedPage> page;            // set: `sound` is within this page, unpacked
  std::optional<std::string> fault;  // set: `fields` cannot be used. Continues a sentence
};

enum class RowParts : std::uint8_t { kFields, kSound, kAll };

class ColumnRows {
 public:
  virtual ~ColumnRows() = default;
  // The next row; nullopt at the end. kBadInput (the message follows the file name): the file is
  // damaged, cut short, or more than we hold in memory. Earlier rows are sound.
  [[nodiscard]] virtual Result<std::optional<ColumnRow>> next() = 0;
  // Columns that hold bytes or values that JSON cannot express: "image, embedding"; empty: none.
  [[nodiscard]] virtual const std::string& left_out() const = 0;
};

// Whether this build has Apache Arrow's library.
[[nodiscard]] bool can_read_column_files() noexcept;
// kBadInput: the file is damaged or has no sound column; the message continues a sentence that
// begins with the file. kUnsupported: this build has no Arrow library.
[[nodiscard]] Result<std::unique_ptr<ColumnRows>> open_column_rows(const RandomAccessFile& file,
                                                                   ColumnFileKind kind,
                                                                   RowParts parts);

// The name of a row's sound in its file: "00000012.flac".
[[nodiscard]] std::string name_of_row(std::uint64_t row, std::string_view audio_path);
[[nodiscard]] std::optional<std::uint64_t> row_of_name(std::string_view name);
// The row and the place of its sound; nullopt: there is no such row, or it has no sound.
[[nodiscard]] Result<std::optional<ColumnRow>> sound_of_row(const RandomAccessFile& file,
                                                            ColumnFileKind kind, std::uint64_t row);

}  // namespace xtts::corpus
