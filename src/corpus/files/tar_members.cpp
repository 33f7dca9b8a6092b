#include "corpus/files/tar_members.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {
namespace {

constexpr std::uint64_t kBlockBytes = 512;
// A name that is an id has 1,024 bytes at most; a pax header may also hold times and owners.
constexpr std::uint64_t kHeaderBytesMax = 64 * 1024;
// Bounds the headers for one member: a hostile archive may repeat them without end.
constexpr int kExtensionsMax = 16;

using Header = std::array<char, kBlockBytes>;

Status bad(std::string reason) {
  return {StatusCode::kBadInput, std::move(reason)};
}

std::string_view field(const Header& header, std::size_t offset, std::size_t size) {
  const std::string_view text(header.data() + offset, size);
  return text.substr(0, text.find('\0'));
}

// Octal digits, or (GNU, for 8 GiB and more) a base-256 number. nullopt: neither.
std::optional<std::uint64_t> number(const Header& header, std::size_t offset, std::size_t size) {
  const auto first = static_cast<unsigned char>(header[offset]);
  std::uint64_t value = 0;
  if ((first & 0x80U) != 0) {
    if (first != 0x80U) return std::nullopt;  // negative, or above 2^63
    for (std::size_t i = 1; i < size; ++i) {
      if (value >> 55U != 0) return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(header[offset + i]);
    }
    return value;
  }
  const std::string_view digits = trimmed(field(header, offset, size));
  if (digits.empty()) return 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, 8);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

// The checksum sums all bytes, its own as spaces. Old archives summed signed bytes.
bool has_good_checksum(const Header& header) {
  constexpr std::size_t kSumAt = 148;
  constexpr std::size_t kSumBytes = 8;
  const auto stored = number(header, kSumAt, kSumBytes);
  if (!stored) return false;
  std::int64_t as_unsigned = 0;
  std::int64_t as_signed = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool is_sum = i >= kSumAt && i < kSumAt + kSumBytes;
    const char c = is_sum ? ' ' : header[i];
    as_unsigned += static_cast<unsigned char>(c);
    as_signed += static_cast<signed char>(c);
  }
  const auto sum = static_cast<std::int64_t>(*stored);
  return sum == as_unsigned || sum == as_signed;
}

std::string name_of(const Header& header) {
  const std::string_view name = field(header, 0, 100);
  const bool is_ustar = std::string_view(header.data() + 257, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = is_ustar ? field(header, 345, 155) : std::string_view();
  return prefix.empty() ? std::string(name) : join_path(prefix, name);
}

std::optional<std::string> fault_of_type(char type) {
  switch (type) {
    case '0':
    case '\0':
    case '7':  // "contiguous": a regular file
      return std::nullopt;
    case '1':
    case '2':
      return "is a link, which is not followed in an archive";
    case '3':
    case '4':
    case '6':
      return "is a device or a FIFO";
    case 'S':
      return "is a sparse file, whose bytes do not lie in one piece; pack it without --sparse";
    default:
      return "is of a kind that is not known";
  }
}

std::string without_dot(std::string name) {
  while (name.starts_with("./")) name.erase(0, 2);
  return name;
}

std::uint64_t padded(std::uint64_t size_bytes) {
  return (size_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

}  // namespace

Result<std::string> TarMembers::read_extension(std::uint64_t size_bytes) {
  if (size_bytes > kHeaderBytesMax) {
    return bad(formatted("has a header of {} at byte {}", counted(size_bytes, "byte", "bytes"),
                         offset_bytes_));
  }
  std::string text(static_cast<std::size_t>(size_bytes), '\0');
  XTTS_ASSIGN(const std::size_t got,
              file_.read_at(offset_bytes_, std::as_writable_bytes(std::span<char>(text))));
  if (got != text.size()) return bad("is cut short within a header");
  offset_bytes_ += padded(size_bytes);
  return text;
}

// pax records "27 path=some/long/name\n"; the number is the length of the whole record.
Status TarMembers::take_pax(std::string_view records, Extended& extended) {
  while (!records.empty() && records.front() != '\0') {
    std::size_t size = 0;
    const auto parsed = std::from_chars(records.data(), records.data() + records.size(), size);
    const auto digits = static_cast<std::size_t>(parsed.ptr - records.data());
    if (parsed.ec != std::errc() || size > records.size() || size < digits + 2 ||
        records[digits] != ' ') {
      return bad(formatted("has a damaged pax header before byte {}", offset_bytes_));
    }
    std::string_view record = records.substr(digits + 1, size - digits - 1);
    records.remove_prefix(size);
    if (record.ends_with('\n')) record.remove_suffix(1);
    const auto equals = record.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") extended.name = std::string(value);
    if (key.starts_with("GNU.sparse.")) extended.is_sparse = true;
    if (key != "size") continue;
    std::uint64_t size_bytes = 0;
    const char* const end = value.data() + value.size();
    const auto number = std::from_chars(value.data(), end, size_bytes);
    if (number.ec != std::errc() || number.ptr != end) {
      return bad("has a pax header with a size that is no number");
    }
    extended.size_bytes = size_bytes;
  }
  return {};
}

Result<std::optional<TarMember>> TarMembers::next() {
  Extended extended;
  for (int extension_count = 0; extension_count <= kExtensionsMax; ++extension_count) {
    if (offset_bytes_ >= file_.size_bytes()) return std::optional<TarMember>();
    Header header{};
    XTTS_ASSIGN(const std::size_t got,
                file_.read_at(offset_bytes_, std::as_writable_bytes(std::span<char>(header))));
    if (got != header.size()) return bad("is cut short within a header");
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == '\0'; })) {
      has_end_mark_ = true;
      return std::optional<TarMember>();
    }
    if (!has_good_checksum(header)) {
      return bad(formatted("is damaged, or no tar, at byte {}", offset_bytes_));
    }
    const auto listed_size = number(header, 124, 12);
    if (!listed_size)
      return bad(formatted("has a size that is no number at byte {}", offset_bytes_));
    const char type = header[156];
    offset_bytes_ += kBlockBytes;
    if (type == 'L' || type == 'x') {
      XTTS_ASSIGN(const std::string text, read_extension(*listed_size));
      if (type == 'L') extended.name = text.substr(0, text.find('\0'));
      if (type == 'x') XTTS_TRY(take_pax(text, extended));
      continue;
    }
    if (type == 'K' || type == 'g') {  // a link's target; values for all members
      XTTS_TRY(read_extension(*listed_size).status());
      continue;
    }
    TarMember member;
    member.name = without_dot(extended.name ? std::move(*extended.name) : name_of(header));
    member.data = {offset_bytes_, extended.size_bytes.value_or(*listed_size)};
    member.is_folder = type == '5' || (type == '\0' && member.name.ends_with('/'));
    if (!member.is_folder) member.fault = fault_of_type(type);
    // A link or a device has no bytes, whatever its size field says.
    if (member.fault && type >= '1' && type <= '6') member.data.size_bytes = 0;
    if (!member.fault && extended.is_sparse) member.fault = fault_of_type('S');
    if (!member.fault && !member.is_folder) {
      if (auto fault = fault_of_listed_path(member.name))
        member.fault = "has a bad name: " + *fault;
    }
    if (member.data.size_bytes > file_.size_bytes() - std::min(offset_bytes_, file_.size_bytes())) {
      return bad(formatted("is cut short: {} has {}, and {} are there", printable(member.name),
                           counted(member.data.size_bytes, "byte", "bytes"),
                           file_.size_bytes() - std::min(offset_bytes_, file_.size_bytes())));
    }
    offset_bytes_ += padded(member.data.size_bytes);
    return std::optional(std::move(member));
  }
  return bad(formatted("has more headers than members at byte {}", offset_bytes_));
}

}  // namespace xtts::corpus
