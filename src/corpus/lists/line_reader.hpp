// LineReader reads the lines of a list, whatever their line ends, and has the checks that each
// line must pass before it is parsed. It reads the list through a window of bounded size: a line
// is a view that is valid until the next call of next(). One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.hpp"
#include "base/env.hpp"
#include "base/shared_text.hpp"
#include "corpus/lists/byte_window.hpp"

namespace xtts::corpus {

// An LJSpeech line has some 200 bytes, the longest transcripts of other corpora a few thousand. A
// longer line means a missing line end, or an attack.
inline constexpr std::size_t kTextBytesMax = 64 * 1024;
// The part of a longer line that is kept, for the message.
inline constexpr std::size_t kLineBytesKept = std::size_t{2} << 20U;

class LineReader {
 public:
  // kInvalidArgument: too big, not a regular file, damaged gzip, or an unknown encoding. A
  // byte-order mark is dropped. A failure after the first piece ends the lines early; status() and
  // `log` (null, or it outlives the list) then have it.
  [[nodiscard]] static Result<LineReader> open(Env& env, const std::string& path, bool is_packed,
                                               ListLog* log, const std::string& encoding = {});
  // Reads bytes from memory.
  [[nodiscard]] static Result<LineReader> from_bytes(std::string bytes,
                                                     const std::string& encoding = {});

  struct Line {
    std::uint64_t number = 0;  // from 1
    std::string_view text;     // without its end
  };
  // The next line, also an empty one; nullopt at the end, or where reading failed.
  [[nodiscard]] std::optional<Line> next();
  [[nodiscard]] const Status& status() const { return bytes_.failure(); }
  // Before the first next(): the bytes that are available; for from_bytes(), all.
  [[nodiscard]] std::string_view all() const { return bytes_.available(); }
  // The list from its beginning, for a caller that does not parse it by lines.
  [[nodiscard]] ByteWindow& bytes() { return bytes_; }
  [[nodiscard]] bool had_byte_order_mark() const { return had_mark_; }

 private:
  explicit LineReader(ByteWindow bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] Status begin();
  void skip_rest_of_line();

  ByteWindow bytes_;
  std::string long_line_;        // the beginning of a line longer than the window
  std::size_t given_bytes_ = 0;  // length of the last line, with its end
  bool had_mark_ = false;
  std::uint64_t line_number_ = 0;
  char line_end_ = '\n';
};

// Why no text can be taken from these bytes (too long, NUL, not UTF-8); nullopt: it can.
[[nodiscard]] std::optional<std::string> fault_of_text_bytes(std::string_view bytes);

// The fields between the separators of a line, each trimmed.
[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view line, char separator);
// Why a row does not fit a header with `expected` fields; nullopt: it fits. More fields are as
// wrong as fewer: a text with a separator or a line end in it would lose its other half.
[[nodiscard]] std::optional<std::string> fault_of_field_count(std::size_t count,
                                                              std::size_t expected);

// Joins the lines of a transcript: a text for training has one line.
[[nodiscard]] std::string on_one_line(std::string_view text);
// Like on_one_line(), but without a copy where the text has one line already.
[[nodiscard]] SharedText shared_on_one_line(const SharedText& text);

// --- Lines "KEY words", as Kaldi writes wav.scp, text and utt2spk. Views of the list. ---

struct KeyLine {
  std::uint64_t line = 0;
  std::string_view key;
  std::string_view words;            // trimmed; may be empty
  std::optional<std::string> fault;  // continues "the line ..."; the key is then only a hint
};

// The next non-blank line, split at its first white space; nullopt at the end.
[[nodiscard]] std::optional<KeyLine> next_key_line(LineReader& list);

// Takes the first word off `words`; empty where there is none.
std::string_view take_word(std::string_view& words);

}  // namespace xtts::corpus
