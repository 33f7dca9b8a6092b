// ListText: the lines of a list, whatever their ends, with the checks that each line must pass
// before it is looked into. Owns the bytes; lines are views of them, valid while it lives and stays
// where it is. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"

namespace xtts::corpus {

// A line of LJSpeech has some 200 bytes, the longest transcripts of other corpora a few thousand. A
// longer line is a missing line end, or an attack.
inline constexpr std::size_t kTextBytesMax = 64 * 1024;
// MLS English, with ten million clips, has half of it.
inline constexpr std::uint64_t kListBytesMax = std::uint64_t{4} << 30U;

class ListText {
 public:
  // kInvalidArgument: too big, UTF-16, not a regular file. A byte-order mark of UTF-8 is dropped.
  [[nodiscard]] static Result<ListText> read(Env& env, const std::string& path,
                                             std::uint64_t size_bytes_max);
  // The same of bytes that are there already; `path` is for messages.
  [[nodiscard]] static Result<ListText> from_bytes(std::string bytes, const std::string& path);

  struct Line {
    std::uint64_t number = 0;  // from 1
    std::string_view text;     // without its end
  };
  // The next line, empty ones included; nullopt at the end.
  [[nodiscard]] std::optional<Line> next();
  [[nodiscard]] std::string_view all() const { return std::string_view(bytes_).substr(start_); }
  [[nodiscard]] bool had_byte_order_mark() const { return start_ != 0; }

 private:
  std::string bytes_;
  std::size_t start_ = 0;
  std::size_t position_ = 0;
  std::uint64_t line_number_ = 0;
  char line_end_ = '\n';
};

inline constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
[[nodiscard]] bool is_utf16(std::string_view bytes);  // by its mark

// Why no text can be taken from these bytes (too long, NUL, not UTF-8); nullopt: it can.
[[nodiscard]] std::optional<std::string> fault_of_text_bytes(std::string_view bytes);

// What lies between the separators of a line, trimmed each.
[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view line, char separator);
// Why a row will not do whose header line has `expected` fields; nullopt: it will. Neither fewer
// nor more: a text with a separator or a line end in it would lose its other half.
[[nodiscard]] std::optional<std::string> fault_of_field_count(std::size_t count,
                                                              std::size_t expected);

// A transcript may run over several lines; the text that is trained on has one.
[[nodiscard]] std::string on_one_line(std::string_view text);

}  // namespace xtts::corpus
