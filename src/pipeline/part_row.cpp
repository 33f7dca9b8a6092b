#include "pipeline/part_row.hpp"

#include <bit>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Clip;

enum class RowKind : std::uint8_t { kClip = 1, kReject = 2 };  // never change

// Bits of a clip's flags. They never change.
constexpr std::uint64_t kOwnSplit = 1;
constexpr std::uint64_t kSegment = 2;
constexpr std::uint64_t kSegmentEnd = 4;
constexpr std::uint64_t kRange = 8;
constexpr std::uint64_t kRow = 16;
constexpr std::uint64_t kSameSource = 32;
constexpr std::uint64_t kRawIsNormalized = 64;
constexpr std::uint64_t kKnownFlags = 127;

// Bounds what a hostile file makes us hold. A line of a list has 64 KiB, and tables of a recipe may
// make a longer text of it.
constexpr std::uint64_t kRowBytesMax = std::uint64_t{64} << 20U;
constexpr std::uint32_t kNumberBits = 7;
constexpr std::size_t kNumberBytesMax = 10;

void append_number(std::uint64_t number, std::string& out) {
  while (number >> kNumberBits != 0) {
    out.push_back(static_cast<char>((number & 127U) | 128U));
    number >>= kNumberBits;
  }
  out.push_back(static_cast<char>(number));
}

void append_text(std::string_view text, std::string& out) {
  append_number(text.size(), out);
  out += text;
}

// Puts a row's size in front of its bytes.
void append_row(std::string_view row, std::string& out) {
  append_text(row, out);
}

std::uint64_t flags_of(const Clip& clip, const SharedText& last_source) {
  std::uint64_t flags = 0;
  const auto set = [&flags](bool is_on, std::uint64_t flag) { flags |= is_on ? flag : 0; };
  set(clip.has_own_split, kOwnSplit);
  set(clip.segment.has_value(), kSegment);
  set(clip.segment && clip.segment->end_s, kSegmentEnd);
  set(clip.range.has_value(), kRange);
  set(clip.row.has_value(), kRow);
  set(!last_source.empty() && clip.source == last_source, kSameSource);
  set(clip.text_normalized == clip.text_raw, kRawIsNormalized);
  return flags;
}

// Reads fields one after the other. After the first that is not there, the rest are defaults.
class RowFields {
 public:
  explicit RowFields(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < kNumberBytesMax; ++i) {
      const std::uint8_t byte = this->byte();
      number |= std::uint64_t{byte & 127U} << (kNumberBits * i);
      if (byte < 128) return number;
    }
    is_whole_ = false;
    return 0;
  }
  // A number below `end`.
  std::uint64_t number_below(std::uint64_t end) {
    const std::uint64_t found = number();
    if (found < end) return found;
    is_whole_ = false;
    return 0;
  }
  std::uint8_t byte() {
    const std::string_view one = take(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
  }
  double seconds() {
    const std::string_view bytes = take(sizeof(std::uint64_t));
    if (bytes.empty()) return 0.0;
    return std::bit_cast<double>(formats::load<std::uint64_t>(formats::bytes_of(bytes), 0));
  }
  std::string_view text() { return take(number()); }

  // True where all fields were there, and nothing else.
  [[nodiscard]] bool is_whole() const { return is_whole_ && bytes_.empty(); }
  void fail() { is_whole_ = false; }

 private:
  std::string_view take(std::uint64_t size_bytes) {
    if (size_bytes > bytes_.size()) {
      is_whole_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size_bytes);
    bytes_.remove_prefix(size_bytes);
    return taken;
  }

  std::string_view bytes_;
  bool is_whole_ = true;
};

Status damaged(std::string_view what) {
  return formats::corrupt(formatted("a row of the part: {}", what));
}

// Sources lie below their folder, whatever the file says.
bool leads_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos)
    return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_possible(const std::optional<corpus::Segment>& segment) {
  if (!segment) return true;
  const double end_s = segment->end_s.value_or(corpus::kSegmentSecondsMax);
  return segment->start_s >= 0.0 && segment->start_s < end_s && end_s <= corpus::kSegmentSecondsMax;
}

void append_place(const Clip& clip, std::string& out) {
  if (clip.segment) formats::append(out, std::bit_cast<std::uint64_t>(clip.segment->start_s));
  if (clip.segment && clip.segment->end_s)
    formats::append(out, std::bit_cast<std::uint64_t>(*clip.segment->end_s));
  if (clip.range) {
    append_number(clip.range->offset_bytes, out);
    append_number(clip.range->size_bytes, out);
    append_number(clip.container_bytes, out);
  }
  if (clip.row) append_number(*clip.row, out);
}

void read_place(RowFields& fields, std::uint64_t flags, Clip& clip) {
  if ((flags & kSegment) != 0) clip.segment = {.start_s = fields.seconds(), .end_s = {}};
  if ((flags & kSegmentEnd) != 0) {
    if (!clip.segment) return fields.fail();
    clip.segment->end_s = fields.seconds();
  }
  if ((flags & kRange) != 0) {
    clip.range = {.offset_bytes = fields.number(), .size_bytes = fields.number()};
    clip.container_bytes = static_cast<std::uint32_t>(fields.number_below(UINT32_MAX));
  }
  if ((flags & kRow) != 0) clip.row = fields.number();
}

const SharedText& name_at(const std::vector<SharedText>& names, std::uint64_t number) {
  static const SharedText none;
  return number == 0 ? none : names[number - 1];
}

}  // namespace

void PartRowWriter::append(const Clip& clip, const RowNumbers& numbers, std::string& out) {
  const std::uint64_t flags = flags_of(clip, last_source_);
  std::string row(1, static_cast<char>(RowKind::kClip));
  append_number(flags, row);
  row.push_back(static_cast<char>(clip.split));
  append_number(clip.folder, row);
  append_number(numbers.dataset, row);
  append_number(numbers.speaker, row);
  append_number(numbers.language, row);
  append_number(clip.source_bytes, row);
  append_place(clip, row);
  append_text(clip.id, row);
  if ((flags & kSameSource) == 0) append_text(clip.source, row);
  append_text(clip.text_raw, row);
  if ((flags & kRawIsNormalized) == 0) append_text(clip.text_normalized, row);
  append_text(clip.extra_json, row);
  last_source_ = clip.source;
  append_row(row, out);
}

void PartRowWriter::append(const formats::Reject& reject, std::string& out) {
  std::string row(1, static_cast<char>(RowKind::kReject));
  append_text(formats::encode_reject(reject), row);
  append_row(row, out);
}

Result<Clip> PartRowReader::decode_clip(std::string_view row) {
  RowFields fields(row);
  Clip clip;
  const std::uint64_t flags = fields.number_below(kKnownFlags + 1);
  clip.has_own_split = (flags & kOwnSplit) != 0;
  clip.split = static_cast<corpus::Split>(fields.byte());
  clip.folder = static_cast<std::uint16_t>(fields.number_below(folder_count_));
  clip.dataset = name_at(names_.datasets, 1 + fields.number_below(names_.datasets.size()));
  clip.speaker = name_at(names_.speakers, fields.number_below(names_.speakers.size() + 1));
  clip.language = name_at(names_.languages, fields.number_below(names_.languages.size() + 1));
  clip.source_bytes = fields.number();
  read_place(fields, flags, clip);
  clip.id = fields.text();
  clip.source = (flags & kSameSource) != 0 ? last_source_ : SharedText(fields.text());
  clip.text_raw = fields.text();
  clip.text_normalized =
      (flags & kRawIsNormalized) != 0 ? clip.text_raw : SharedText(fields.text());
  clip.extra_json = fields.text();
  if (!fields.is_whole()) return damaged("its fields are not those of a clip");
  if (clip.split > corpus::Split::kTest) return damaged("a split that does not exist");
  if (!leads_inside(clip.source) || clip.container_bytes > clip.source.size())
    return damaged("a source outside of its folder");
  if (!is_possible(clip.segment)) return damaged("a segment that ends before it begins");
  last_source_ = clip.source;
  return clip;
}

Result<std::optional<PartRow>> PartRowReader::take(std::string_view& rows) {
  std::uint64_t size_bytes = 0;
  std::size_t digits = 0;
  for (bool is_last = false; !is_last; ++digits) {
    if (digits == kNumberBytesMax) return damaged("too long");
    if (digits == rows.size()) return std::optional<PartRow>();
    const auto byte = static_cast<std::uint8_t>(rows[digits]);
    size_bytes |= std::uint64_t{byte & 127U} << (kNumberBits * digits);
    if (size_bytes > kRowBytesMax) return damaged("too long");
    is_last = byte < 128;
  }
  if (rows.size() - digits < size_bytes) return std::optional<PartRow>();
  const std::string_view row = rows.substr(digits, size_bytes);
  rows.remove_prefix(digits + size_bytes);
  if (row.empty()) return damaged("without a kind");
  const std::string_view rest = row.substr(1);
  switch (static_cast<RowKind>(row.front())) {
    case RowKind::kClip: {
      XTTS_ASSIGN(auto clip, decode_clip(rest));
      return std::optional(PartRow(std::move(clip)));
    }
    case RowKind::kReject: {
      RowFields fields(rest);
      const std::string_view line = fields.text();
      if (!fields.is_whole()) return damaged("its fields are not those of a reject");
      XTTS_ASSIGN(auto reject, formats::decode_reject(line));
      return std::optional(PartRow(std::move(reject)));
    }
  }
  return damaged("of a kind that does not exist");
}

}  // namespace xtts::pipeline
