// ColumnRows: the rows of a Parquet file or an Arrow stream, as Hugging Face data sets are stored,
// or rows that the caller of xp.build() serves. A row has the values of its columns and the place
// of its sound.
//
// Python reads all of them (row_server.hpp). In an Arrow stream, the place is a range of the file.
// Else the sound is the value of a row, and Python is asked for it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "corpus/files/source_place.hpp"

namespace xtts::corpus {

enum class ColumnFileKind : std::uint8_t {
  kParquet,
  kArrowStream,
  kServed,  // *.rows: no rows lie in the file; its folder has the socket of who serves them
};

// The kind that the suffix of `path` means; nullopt: none.
[[nodiscard]] std::optional<ColumnFileKind> column_file_kind(std::string_view path);
// True where the file begins with the mark of its kind.
[[nodiscard]] Result<bool> begins_as(const RandomAccessFile& file, ColumnFileKind kind);

struct ColumnRow {
  nlohmann::json fields = nlohmann::json::object();  // all columns but the sound
  std::string audio_path;                            // from the sound's column; may be empty
  std::optional<ByteRange> sound;                    // unset: the row has no sound
  std::optional<std::uint64_t> row;                  // as in SourcePlace
  std::optional<std::string> fault;  // set: `fields` cannot be used. Continues a sentence
};

enum class RowParts : std::uint8_t { kFields, kSound, kAll };

class ColumnRows {
 public:
  // `env` must be the real one, or a view of it: another process opens the file.
  ColumnRows(Env& env, std::string path, ColumnFileKind kind, RowParts parts,
             std::uint64_t first = 0, std::uint64_t rows_at_once = 1024)
      : env_(env),
        path_(std::move(path)),
        kind_(kind),
        parts_(parts),
        rows_at_once_(rows_at_once),
        row_(first) {}

  // Asks for the next rows; none are left after the last.
  [[nodiscard]] Status read();
  // The next row; nullopt at the end. kBadInput (the message follows the file name): the file is
  // damaged, cut short, or more than Python may hold in memory. Earlier rows are sound.
  [[nodiscard]] Result<std::optional<ColumnRow>> next();
  // Columns that hold bytes or values that JSON cannot express: "image, embedding"; empty: none.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  // True where rows can only be read in their order.
  [[nodiscard]] bool is_stream() const noexcept { return is_stream_; }

 private:
  Env& env_;
  std::string path_;
  ColumnFileKind kind_;
  RowParts parts_;
  std::uint64_t rows_at_once_;
  std::uint64_t row_;
  nlohmann::json rows_ = nlohmann::json::array();
  std::size_t next_ = 0;
  std::string left_out_;
  bool is_stream_ = false;
};

// Rows of which the first were read. kBadInput: the file is damaged or has no sound column; the
// message continues a sentence that begins with the file. Else as ask_row_server().
[[nodiscard]] Result<ColumnRows> open_column_rows(Env& env, const std::string& path,
                                                  ColumnFileKind kind, RowParts parts);

// The name of a row's sound in its file: "00000012.flac".
[[nodiscard]] std::string name_of_row(std::uint64_t row, std::string_view audio_path);
[[nodiscard]] std::optional<std::uint64_t> row_of_name(std::string_view name);
// The place of a row's sound; nullopt: there is no such row, or it has no sound.
[[nodiscard]] Result<std::optional<ColumnRow>> place_of_row(Env& env, const std::string& path,
                                                            ColumnFileKind kind, std::uint64_t row);
// The sound of a row that has one.
[[nodiscard]] Result<std::vector<std::byte>> sound_of_row(Env& env, const std::string& path,
                                                          std::uint64_t row);

}  // namespace xtts::corpus
