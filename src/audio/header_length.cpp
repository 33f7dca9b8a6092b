#include "audio/header_length.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace xtts::audio {
namespace {

using Length = std::optional<SourceLength>;

constexpr std::size_t kHeadBytes = 4096;

// Bytes of a source from an offset. What is not there reads as 0, and is noted.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint32_t u8(std::size_t at) const noexcept {
    return at < bytes_.size() ? static_cast<std::uint32_t>(bytes_[at]) : 0;
  }
  [[nodiscard]] std::uint32_t u16(std::size_t at) const noexcept {
    return u8(at) | u8(at + 1) << 8U;
  }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const noexcept {
    return u16(at) | u16(at + 2) << 16U;
  }
  [[nodiscard]] std::uint64_t u64(std::size_t at) const noexcept {
    return u32(at) | std::uint64_t{u32(at + 4)} << 32U;
  }
  [[nodiscard]] std::uint32_t u32_big(std::size_t at) const noexcept {
    return u8(at) << 24U | u8(at + 1) << 16U | u8(at + 2) << 8U | u8(at + 3);
  }
  [[nodiscard]] bool has(std::size_t at, std::string_view text) const noexcept {
    if (at > bytes_.size() || text.size() > bytes_.size() - at) return false;
    return std::equal(text.begin(), text.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char letter, std::byte byte) {
                        return static_cast<std::byte>(static_cast<unsigned char>(letter)) == byte;
                      });
  }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

// A window on a source, which moves where one looks.
class Window {
 public:
  explicit Window(const RandomAccessFile& source) : source_(source) {}

  // At least `needed` bytes from the offset, or those that there are.
  [[nodiscard]] Bytes at(std::uint64_t offset, std::size_t needed, std::size_t ahead) {
    const bool is_here = offset >= begin_ && offset - begin_ <= size_ &&
                         (size_ - (offset - begin_) >= needed || begin_ + size_ >= total());
    if (!is_here) {
      buffer_.resize(std::max(buffer_.size(), std::max(needed, ahead)));
      const auto got = source_.read_at(offset, std::span(buffer_).first(std::max(needed, ahead)));
      begin_ = offset;
      size_ = got.ok() ? *got : 0;
    }
    const auto skipped = static_cast<std::size_t>(offset - begin_);
    return Bytes(std::span(buffer_).first(size_).subspan(skipped));
  }
  [[nodiscard]] std::uint64_t total() const { return source_.size_bytes(); }

 private:
  const RandomAccessFile& source_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t size_ = 0;
};

Length length_of(std::uint64_t rate_hz, std::uint64_t frame_count) {
  if (rate_hz == 0 || rate_hz > kSampleRateHzMax || frame_count == 0) return std::nullopt;
  return SourceLength{static_cast<std::uint32_t>(rate_hz), frame_count};
}

// Formats whose samples all take the same bytes.
bool is_plain(std::uint32_t format) {
  constexpr std::array<std::uint32_t, 5> kPlain = {1, 3, 6, 7, 0xFFFE};
  return std::ranges::find(kPlain, format) != kPlain.end();
}

Length length_of_wav(Window& window) {
  constexpr int kChunksMax = 64;
  std::uint64_t rate_hz = 0;
  std::uint64_t frame_bytes = 0;
  std::uint64_t offset = 12;
  for (int i = 0; i < kChunksMax && offset + 8 < window.total(); ++i) {
    const Bytes chunk = window.at(offset, 8 + 16, 64);
    const std::uint64_t size = chunk.u32(4);
    if (chunk.has(0, "fmt ")) {
      if (!is_plain(chunk.u16(8))) return std::nullopt;
      rate_hz = chunk.u32(12);
      frame_bytes = chunk.u16(20);
    } else if (chunk.has(0, "data")) {
      if (frame_bytes == 0) return std::nullopt;
      // A program that writes to a pipe puts 0 or nearly the largest number there.
      const std::uint64_t rest = window.total() - offset - 8;
      return length_of(rate_hz, (size == 0 ? rest : std::min(size, rest)) / frame_bytes);
    }
    offset += 8 + size + size % 2;
  }
  return std::nullopt;
}

Length length_of_flac(const Bytes& head) {
  constexpr std::size_t kStreamInfo = 8;  // behind "fLaC" and the header of the first block
  if ((head.u8(4) & 0x7FU) != 0 || head.size() < kStreamInfo + 18) return std::nullopt;
  const std::uint64_t rate_hz = head.u32_big(kStreamInfo + 10) >> 12U;
  const std::uint64_t high = head.u8(kStreamInfo + 13) & 0x0FU;
  return length_of(rate_hz, high << 32U | head.u32_big(kStreamInfo + 14));
}

// One frame of MPEG audio, layer III.
struct Mp3Frame {
  std::uint32_t rate_hz = 0;
  std::uint32_t sample_count = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t side_bytes = 0;  // between the header and the place of a Xing tag
};

std::optional<Mp3Frame> mp3_frame(std::uint32_t header) {
  constexpr std::array<std::uint32_t, 15> kFirst = {0,   32,  40,  48,  56,  64,  80, 96,
                                                    112, 128, 160, 192, 224, 256, 320};
  constexpr std::array<std::uint32_t, 15> kSecond = {0,  8,  16, 24,  32,  40,  48, 56,
                                                     64, 80, 96, 112, 128, 144, 160};
  constexpr std::array<std::uint32_t, 3> kRates = {44100, 48000, 32000};
  const std::uint32_t version = header >> 19U & 3U;  // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const std::uint32_t rate = header >> 10U & 3U;
  const std::uint32_t bits = header >> 12U & 15U;
  const bool is_sync = header >> 21U == 0x7FFU;
  const bool is_layer_3 = (header >> 17U & 3U) == 1;
  if (!is_sync || !is_layer_3 || version == 1 || rate == 3 || bits == 0 || bits == 15)
    return std::nullopt;
  const bool is_first = version == 3;
  const bool is_mono = (header >> 6U & 3U) == 3;
  Mp3Frame frame;
  frame.rate_hz = kRates[rate] >> (is_first ? 0U : version == 2 ? 1U : 2U);
  frame.sample_count = is_first ? 1152 : 576;
  frame.size_bytes =
      (is_first ? 144U : 72U) * 1000 * (is_first ? kFirst : kSecond)[bits] / frame.rate_hz +
      (header >> 9U & 1U);
  frame.side_bytes = is_first ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17);
  return frame;
}

// The frames that a tag of the encoder counts.
std::optional<std::uint64_t> counted_frames(const Bytes& bytes, const Mp3Frame& first) {
  const std::size_t xing = 4 + std::size_t{first.side_bytes};
  if (bytes.has(xing, "Xing") || bytes.has(xing, "Info")) {
    const bool has_count = (bytes.u32_big(xing + 4) & 1U) != 0;
    if (has_count && bytes.u32_big(xing + 8) > 0) return bytes.u32_big(xing + 8);
  }
  if (bytes.has(36, "VBRI") && bytes.u32_big(50) > 0) return bytes.u32_big(50);
  return std::nullopt;
}

// The bytes of an ID3v2 tag in front.
std::uint64_t id3_bytes(const Bytes& head) {
  if (!head.has(0, "ID3")) return 0;
  std::uint64_t size = 0;
  for (std::size_t i = 6; i < 10; ++i) size = size << 7U | (head.u8(i) & 0x7FU);
  return 10 + size + ((head.u8(5) & 0x10U) != 0 ? 10 : 0);
}

Length length_of_mp3(Window& window, std::uint64_t offset) {
  constexpr std::size_t kAheadBytes = std::size_t{64} << 10U;
  constexpr std::uint64_t kTagsBytesMax = 4096;  // behind the last frame
  const Bytes begin = window.at(offset, 64, kHeadBytes);
  const auto first = mp3_frame(begin.u32_big(0));
  if (!first) return std::nullopt;
  if (const auto count = counted_frames(begin, *first))
    return length_of(first->rate_hz, *count * first->sample_count);
  std::uint64_t samples = 0;
  while (offset + 4 <= window.total()) {
    const auto frame = mp3_frame(window.at(offset, 4, kAheadBytes).u32_big(0));
    if (!frame || frame->rate_hz != first->rate_hz) break;
    samples += frame->sample_count;
    offset += frame->size_bytes;
  }
  // Something else in the middle is for a demuxer to find its way through.
  if (offset + kTagsBytesMax < window.total()) return std::nullopt;
  return length_of(first->rate_hz, samples);
}

Length length_of_ogg(Window& window) {
  constexpr std::size_t kPageHeadBytes = 27;
  constexpr std::uint64_t kPageBytesMax = kPageHeadBytes + 255 + 255 * 255;
  const Bytes head = window.at(0, kHeadBytes, kHeadBytes);
  const std::uint32_t serial = head.u32(14);
  const std::size_t packet = kPageHeadBytes + head.u8(26);
  const bool is_opus = head.has(packet, "OpusHead");
  if (!is_opus && !head.has(packet, "\x01vorbis")) return std::nullopt;
  const std::uint64_t rate_hz = is_opus ? 48000 : head.u32(packet + 12);
  const std::uint64_t skipped = is_opus ? head.u16(packet + 10) : 0;
  const std::uint64_t begin = window.total() - std::min(window.total(), kPageBytesMax);
  const Bytes tail = window.at(begin, kPageBytesMax, kPageBytesMax);
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (!tail.has(at, "OggS") || tail.size() - at < kPageHeadBytes) continue;
    if (tail.u32(at + 14) != serial) return std::nullopt;  // several streams
    const std::uint64_t end = tail.u64(at + 6);
    if (end == UINT64_MAX) continue;  // no packet ends on this page
    return end > skipped ? length_of(rate_hz, end - skipped) : std::nullopt;
  }
  return std::nullopt;
}

// The header of the whole film ("mvhd") counts ticks of a clock of its own: they stand for samples
// here.
Length length_of_mp4(Window& window) {
  constexpr int kBoxesMax = 64;
  std::uint64_t offset = 0;
  for (int i = 0; i < kBoxesMax && offset + 8 < window.total(); ++i) {
    const Bytes box = window.at(offset, 48, 64);
    std::uint64_t size = box.u32_big(0);
    const bool is_large = size == 1;
    if (is_large) size = std::uint64_t{box.u32_big(8)} << 32U | box.u32_big(12);
    if (box.has(4, "mvhd")) {
      const bool is_long = box.u8(8) == 1;
      const std::uint64_t rate = box.u32_big(is_long ? 28 : 20);
      std::uint64_t ticks = box.u32_big(is_long ? 32 : 24);
      if (is_long) ticks = ticks << 32U | box.u32_big(36);
      if (ticks == 0 || ticks >= UINT32_MAX) return std::nullopt;  // not known; in parts
      // It may leave out the part of a codec's frame at the end: 18 ms in the recorded corpus.
      return length_of(rate, ticks + rate / 40 + 1);
    }
    if (box.has(4, "moov")) {
      size = is_large ? 16 : 8;  // go in
    } else if (size < 8) {
      return std::nullopt;
    }
    if (size > window.total() - offset) return std::nullopt;
    offset += size;
  }
  return std::nullopt;
}

Length stated_length(Window& window) {
  const Bytes head = window.at(0, kHeadBytes, kHeadBytes);
  if (head.has(0, "RIFF") && head.has(8, "WAVE")) return length_of_wav(window);
  if (head.has(0, "fLaC")) return length_of_flac(head);
  if (head.has(0, "OggS")) return length_of_ogg(window);
  if (head.has(4, "ftyp")) return length_of_mp4(window);
  return length_of_mp3(window, id3_bytes(head));
}

}  // namespace

std::optional<SourceLength> header_length(const RandomAccessFile& source) {
  Window window(source);
  const Length length = stated_length(window);
  if (!length) return std::nullopt;
  const double seconds = static_cast<double>(length->frame_count) / length->sample_rate_hz;
  return may_hold_seconds(source.size_bytes(), seconds) ? length : std::nullopt;
}

}  // namespace xtts::audio
