#include "corpus/list_text.hpp"

#include <algorithm>
#include <cstring>

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

// Most texts are ASCII; the loop without branches is a tenth of the cost of a check by characters.
bool is_ascii(std::string_view bytes) {
  unsigned char seen = 0;
  for (const char c : bytes) seen |= static_cast<unsigned char>(c);
  return seen < 0x80;
}

}  // namespace

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

Result<ListText> ListText::read(Env& env, const std::string& path, std::uint64_t size_bytes_max) {
  XTTS_ASSIGN(std::string bytes, read_text_file(env, path, size_bytes_max));
  return from_bytes(std::move(bytes), path);
}

Result<ListText> ListText::from_bytes(std::string own_bytes, const std::string& path) {
  ListText list;
  list.bytes_ = std::move(own_bytes);
  const std::string_view bytes = list.bytes_;
  if (is_utf16(bytes)) {
    return Status(StatusCode::kInvalidArgument, path + " is UTF-16; save it as UTF-8");
  }
  if (bytes.starts_with(kUtf8Mark)) list.start_ = list.position_ = kUtf8Mark.size();
  // Lines of the old Mac OS end in CR alone.
  if (bytes.find('\n') == std::string_view::npos) list.line_end_ = '\r';
  return list;
}

std::optional<ListText::Line> ListText::next() {
  if (position_ >= bytes_.size()) return std::nullopt;
  const std::size_t end = std::min(bytes_.find(line_end_, position_), bytes_.size());
  std::string_view text = std::string_view(bytes_).substr(position_, end - position_);
  position_ = end + 1;
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{++line_number_, text};
}

std::optional<std::string> fault_of_text_bytes(std::string_view bytes) {
  if (bytes.size() > kTextBytesMax) {
    return "has " + counted(bytes.size(), "byte", "bytes") + " of text; at most " +
           counted(kTextBytesMax, "byte is", "bytes are") + " allowed";
  }
  if (bytes.find('\0') != std::string_view::npos) return "holds a NUL byte";
  if (is_ascii(bytes)) return std::nullopt;
  const std::size_t valid = utf8_valid_bytes(bytes);
  if (valid == bytes.size()) return std::nullopt;
  return "is not UTF-8 (byte " + std::to_string(valid + 1) + "); save it as UTF-8";
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
  return "has " + counted(count, "field", "fields") + " where the header line has " +
         std::to_string(expected);
}

std::string on_one_line(std::string_view text) {
  // Most have one; two looks for a byte are ten times as fast as one look for either.
  if (text.find('\n') == std::string_view::npos && text.find('\r') == std::string_view::npos) {
    return std::string(text);
  }
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

}  // namespace xtts::corpus
