// ColumnRows: the rows of a Parquet file or of an Arrow stream, as Hugging Face data sets are kept:
// what their columns say, and where the bytes of their sound lie in the file.
//
// Sound is never read here, only what says where it is, so that a shard of a gigabyte costs some
// small reads a row. All parsing of foreign bytes is done by Apache Arrow's library with bounded
// memory. Builds without the library have these functions too, and can read no rows.
// One thread at a time; a ColumnRows is a view of its file.
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

// By its suffix; nullopt: another file.
[[nodiscard]] std::optional<ColumnFileKind> column_file_kind(std::string_view path);
// Whether it begins as such files do.
[[nodiscard]] Result<bool> begins_as(const RandomAccessFile& file, ColumnFileKind kind);

struct ColumnRow {
  nlohmann::json fields = nlohmann::json::object();  // all columns but the sound's
  std::string audio_path;                            // as the sound's column names it; may be empty
  std::optional<ByteRange> sound;                    // unset: the row has none
  std::shared_ptr<const PackedPage> page;            // set: `sound` is within it, unpacked
  std::optional<std::string> fault;  // set: `fields` cannot be used. Continues a sentence
};

enum class RowParts : std::uint8_t { kFields, kSound, kAll };

class ColumnRows {
 public:
  virtual ~ColumnRows() = default;
  // The next row; nullopt at the end. kBadInput, continuing a sentence that begins with the file:
  // damaged, cut short, or more than we hold in memory. Rows that were given before are sound.
  [[nodiscard]] virtual Result<std::optional<ColumnRow>> next() = 0;
  // Columns that hold bytes, or what JSON cannot say: "image, embedding"; empty: none.
  [[nodiscard]] virtual const std::string& left_out() const = 0;
};

// Whether this build can.
[[nodiscard]] bool can_read_column_files() noexcept;
// kBadInput, continuing a sentence that begins with the file: it is damaged, or has no column of
// sound. kUnsupported: this build cannot.
[[nodiscard]] Result<std::unique_ptr<ColumnRows>> open_column_rows(const RandomAccessFile& file,
                                                                   ColumnFileKind kind,
                                                                   RowParts parts);

// What a row's sound is called in its file: "00000012.flac".
[[nodiscard]] std::string name_of_row(std::uint64_t row, std::string_view audio_path);
[[nodiscard]] std::optional<std::uint64_t> row_of_name(std::string_view name);
// A row with where its sound lies; nullopt: there is no such row, or it has none.
[[nodiscard]] Result<std::optional<ColumnRow>> sound_of_row(const RandomAccessFile& file,
                                                            ColumnFileKind kind, std::uint64_t row);

}  // namespace xtts::corpus
