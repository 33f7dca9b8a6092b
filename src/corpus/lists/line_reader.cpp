#include "corpus/lists/line_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/small_list.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {
namespace {

// Most texts are ASCII. This loop without branches costs a tenth of a check by characters.
bool is_ascii(std::string_view bytes) {
  unsigned char seen = 0;
  for (const char c : bytes) seen |= static_cast<unsigned char>(c);
  return seen < 0x80;
}

// Two searches for one byte each are ten times as fast as one search for either.
bool has_one_line(std::string_view text) {
  return text.find('\n') == std::string_view::npos && text.find('\r') == std::string_view::npos;
}

}  // namespace

Result<LineReader> LineReader::open(Env& env, const std::string& path, bool is_packed, ListLog* log,
                                    const std::string& encoding) {
  XTTS_ASSIGN(ByteWindow bytes, ByteWindow::open(env, path, is_packed, encoding));
  LineReader list(std::move(bytes));
  XTTS_TRY(list.begin());
  list.bytes_.set_log(log);
  return list;
}

Result<LineReader> LineReader::from_bytes(std::string own_bytes, const std::string& encoding) {
  XTTS_ASSIGN(std::string text, as_utf8(std::move(own_bytes), encoding));
  LineReader list(ByteWindow::of(std::move(text)));
  XTTS_TRY(list.begin());
  return list;
}

Status LineReader::begin() {
  const std::string_view bytes = bytes_.peek(kUtf8Mark.size());
  XTTS_TRY(bytes_.failure());
  line_end_ = line_end_of(bytes);
  had_mark_ = bytes.starts_with(kUtf8Mark);
  if (had_mark_) bytes_.skip(kUtf8Mark.size());
  return {};
}

std::optional<LineReader::Line> LineReader::next() {
  bytes_.skip(std::exchange(given_bytes_, 0));
  std::size_t searched_bytes = 0;
  std::string_view text = bytes_.available();
  for (;;) {
    const std::size_t end = text.find(line_end_, searched_bytes);
    if (end != std::string_view::npos) {
      given_bytes_ = end + 1;
      text = text.substr(0, end);
      break;
    }
    searched_bytes = text.size();
    if (searched_bytes >= kLineBytesKept) {
      long_line_ = text.substr(0, kLineBytesKept);
      text = long_line_;
      skip_rest_of_line();
      break;
    }
    text = bytes_.peek(searched_bytes + 1);
    if (text.size() > searched_bytes) continue;
    if (text.empty() || !bytes_.failure().ok()) return std::nullopt;
    given_bytes_ = text.size();
    break;
  }
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{++line_number_, text};
}

void LineReader::skip_rest_of_line() {
  for (std::string_view rest = bytes_.peek(1); !rest.empty(); rest = bytes_.peek(1)) {
    const std::size_t end = rest.find(line_end_);
    bytes_.skip(end == std::string_view::npos ? rest.size() : end + 1);
    if (end != std::string_view::npos) return;
  }
}

std::optional<std::string> fault_of_text_bytes(std::string_view bytes) {
  if (bytes.size() > kTextBytesMax) {
    // A longer line is kept only up to this size.
    return formatted("{}{} of text; at most {} allowed",
                     bytes.size() >= kLineBytesKept ? "has at least " : "has ",
                     counted(bytes.size(), "byte", "bytes"),
                     counted(kTextBytesMax, "byte is", "bytes are"));
  }
  if (bytes.find('\0') != std::string_view::npos)
    return "holds a NUL byte: where it is UTF-16, give " +
           option_or_setting("encoding", "corpus.encoding", "UTF-16LE");
  if (is_ascii(bytes)) return std::nullopt;
  const std::size_t valid = utf8_valid_bytes(bytes);
  if (valid == bytes.size()) return std::nullopt;
  return formatted("is not UTF-8 (byte {}); save it as UTF-8, or name its encoding, as in {}",
                   valid + 1, option_or_setting("encoding", "corpus.encoding", "cp1256"));
}

std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto end = line.find(separator);
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

std::optional<std::string> fault_of_field_count(std::size_t count, std::size_t expected) {
  if (count == expected) return std::nullopt;
  return formatted("has {} where the header line has {}", counted(count, "field", "fields"),
                   expected);
}

std::string on_one_line(std::string_view text) {
  if (has_one_line(text)) return std::string(text);
  std::string line;
  line.reserve(text.size());
  bool in_break = false;
  for (const char c : text) {
    const bool is_break = c == '\n' || c == '\r';
    if (is_break && !in_break) line += ' ';
    if (!is_break) line += c;
    in_break = is_break;
  }
  return line;
}

SharedText shared_on_one_line(const SharedText& text) {
  return has_one_line(text) ? text : SharedText(on_one_line(text));
}

std::string_view take_word(std::string_view& words) {
  words = trimmed(words);
  const auto end = std::min(words.find_first_of(" \t"), words.size());
  const std::string_view word = words.substr(0, end);
  words = trimmed(words.substr(end));
  return word;
}

std::optional<KeyLine> next_key_line(LineReader& list) {
  while (const auto line = list.next()) {
    if (trimmed(line->text).empty()) continue;
    KeyLine found;
    found.line = line->number;
    found.words = line->text;
    found.key = take_word(found.words);
    found.fault = fault_of_text_bytes(line->text);
    return found;
  }
  return std::nullopt;
}

}  // namespace xtts::corpus
