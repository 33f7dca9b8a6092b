#include "corpus/lists/csv_reader.hpp"

#include <algorithm>

#include "base/small_list.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/line_reader.hpp"

namespace xtts::corpus {
namespace {

// The reach of a look: a record within the limit, and the line after an open quote.
constexpr std::size_t kReachBytes = 2 * kTextBytesMax + 2;

}  // namespace

CsvReader::CsvReader(std::string_view text, char separator)
    : own_bytes_(ByteWindow::view_of(text)), separator_(separator), line_end_(line_end_of(text)) {}

CsvReader::CsvReader(ByteWindow& bytes, char separator)
    : bytes_(&bytes), separator_(separator), line_end_(line_end_of(bytes.peek(kReachBytes))) {}

void CsvReader::look() {
  bytes().skip(position_);
  position_ = 0;
  text_ = bytes().peek(kReachBytes);
  is_all_ = text_.size() < kReachBytes;
}

// True where the record in work continues beyond the text in view.
bool CsvReader::is_cut() const {
  return position_ >= text_.size() && !is_all_ && !text_.ends_with(line_end_);
}

void CsvReader::skip_rest_of_line() {
  while (is_cut()) {
    look();
    (void)take_line();
    --line_;  // take_line() counted the rest of the same line
  }
}

bool CsvReader::at_line_end(std::size_t position) const {
  if (position >= text_.size() || text_[position] == line_end_) return true;
  return text_[position] == '\r' &&
         (position + 1 == text_.size() || text_[position + 1] == line_end_);
}

std::string_view CsvReader::take_line() {
  const std::size_t end = std::min(text_.find(line_end_, position_), text_.size());
  std::string_view line = text_.substr(position_, end - position_);
  position_ = std::min(end + 1, text_.size());
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool CsvReader::skip_blank_lines() {
  for (look(); !text_.empty(); look()) {
    while (position_ < text_.size()) {
      const std::size_t begin = position_;
      // A line of only tabs is blank too; it would be a row of empty fields.
      const bool is_blank = trimmed(take_line()).empty();
      if (is_blank && is_cut()) --line_;  // the line goes on
      if (is_blank) continue;
      position_ = begin;
      --line_;
      look();
      return true;
    }
  }
  return false;
}

std::optional<CsvRecord> CsvReader::next() {
  if (!skip_blank_lines()) return std::nullopt;
  CsvRecord record;
  record.line = line_;
  const std::size_t begin = position_;
  record.fault = take_record(record.fields);
  if (record.fault) {
    position_ = begin;
    const std::string_view line = take_line();
    if (separator_ == '\t') {
      record.fault = fault_of_text_bytes(line);
      const auto fields = fields_of(line, separator_);
      record.fields.assign(fields.begin(), fields.end());
    }
  } else {
    const std::string_view bytes = text_.substr(begin, position_ - begin);
    line_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), line_end_));
    record.fault = fault_of_text_bytes(bytes);
    if (is_cut()) ++line_;  // its end is still to come
  }
  skip_rest_of_line();
  return record;
}

std::optional<std::string> CsvReader::take_record(std::vector<std::string>& fields) {
  const std::size_t begin = position_;
  for (;;) {
    std::string& field = fields.emplace_back();
    if (position_ < text_.size() && text_[position_] == '"') {
      if (auto fault = take_quoted(begin, field)) return fault;
    } else {
      take_plain(field);
    }
    if (at_line_end(position_)) break;
    ++position_;  // the separator
  }
  if (position_ < text_.size() && text_[position_] != line_end_) ++position_;  // CR of CR LF
  if (position_ < text_.size()) ++position_;
  return std::nullopt;
}

void CsvReader::take_plain(std::string& field) {
  const std::size_t begin = position_;
  while (position_ < text_.size() && text_[position_] != separator_ &&
         text_[position_] != line_end_) {
    ++position_;
  }
  if (at_line_end(position_) && position_ > begin && text_[position_ - 1] == '\r') --position_;
  field = text_.substr(begin, position_ - begin);
}

std::optional<std::string> CsvReader::take_quoted(std::size_t begin, std::string& field) {
  // A look ends at the size limit of a record.
  const std::string_view reach = text_.substr(0, begin + kTextBytesMax + 1);
  ++position_;
  for (;;) {
    const auto quote = reach.find('"', position_);
    if (quote == std::string_view::npos) return "has a quote that is not closed";
    field.append(text_, position_, quote - position_);
    position_ = quote + 1;
    if (position_ >= text_.size() || text_[position_] != '"') break;
    field += '"';
    ++position_;
  }
  if (at_line_end(position_) || text_[position_] == separator_) return std::nullopt;
  return "has text behind a closing quote; double the quotes inside a quoted field";
}

char separator_of(std::string_view header) {
  char best = ',';
  for (const char separator : {'\t', ';', '|'}) {
    if (std::count(header.begin(), header.end(), separator) >
        std::count(header.begin(), header.end(), best)) {
      best = separator;
    }
  }
  return best;
}

}  // namespace xtts::corpus
