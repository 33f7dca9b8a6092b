#include "decode/detail/tail_tags.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace xtts::decode::detail {
namespace {

constexpr std::uint64_t kId3v1Bytes = 128;
constexpr std::uint64_t kApeFooterBytes = 32;
constexpr std::uint64_t kLyricsSizeBytes = 6;  // in digits, before the letters that end a tag
constexpr std::uint64_t kLyricsMarkBytes = 9;
constexpr std::uint64_t kLyrics1BytesMax = 5'100 + 20;
// A codec's frame seldom ends in more zeros.
constexpr std::uint64_t kZerosMin = 32;
constexpr std::uint64_t kZerosMax = 64 << 10;

std::uint64_t ape_bytes(std::string_view footer) {
  std::uint64_t size = 0;
  for (std::size_t i = 4; i-- > 0;) size = size << 8U | static_cast<unsigned char>(footer[12 + i]);
  const bool has_header = (static_cast<unsigned char>(footer[23]) & 0x80U) != 0;
  return size + (has_header ? kApeFooterBytes : 0);
}

std::uint64_t lyrics_bytes(SourceReader& file, std::uint64_t end) {
  const std::uint64_t most = std::min(end, kLyrics1BytesMax);
  const std::string text = file.at(end - most, most);
  if (text.ends_with("LYRICSEND")) {
    const auto begin = text.rfind("LYRICSBEGIN");
    return begin == std::string::npos ? 0 : text.size() - begin;
  }
  constexpr std::uint64_t kTail = kLyricsSizeBytes + kLyricsMarkBytes;
  if (!text.ends_with("LYRICS200") || text.size() < kTail) return 0;
  std::uint64_t size = 0;
  const char* digits = text.data() + text.size() - kTail;
  std::from_chars(digits, digits + kLyricsSizeBytes, size);
  return size + kTail;
}

// The bytes of the tag, or of the zeros, that ends at `end`.
std::uint64_t tail_bytes(SourceReader& file, std::uint64_t end) {
  const auto before = [&](std::uint64_t count) {
    return end < count ? std::string() : file.at(end - count, count);
  };
  if (before(kId3v1Bytes).starts_with("TAG")) return kId3v1Bytes;
  if (const std::string footer = before(kApeFooterBytes); footer.starts_with("APETAGEX"))
    return ape_bytes(footer);
  if (before(kLyricsMarkBytes).starts_with("LYRICS")) return lyrics_bytes(file, end);
  if (before(kZerosMin) != std::string(kZerosMin, '\0')) return 0;
  const std::string last = before(std::min(end, kZerosMax));
  return last.size() - (last.find_last_not_of('\0') + 1);
}

}  // namespace

std::uint64_t end_without_tags(SourceReader& file) {
  constexpr int kTagsMax = 100;
  std::uint64_t end = file.size_bytes();
  for (int i = 0; i < kTagsMax; ++i) {
    const std::uint64_t size = tail_bytes(file, end);
    if (size == 0 || size > end) break;
    end -= size;
  }
  return end;
}

}  // namespace xtts::decode::detail
