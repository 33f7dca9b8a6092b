#include "decode/detail/packet_look.hpp"

extern "C" {
#include <libavcodec/ac3_parser.h>
}

#include <algorithm>
#include <span>
#include <string_view>

namespace xtts::decode::detail {
namespace {

using PacketBytes = std::span<const std::uint8_t>;

std::string_view letters_of(PacketBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// kbit/s by bitrate index, of MPEG-1's layers I to III, then of layer I and of layers II and III of
// MPEG-2 and 2.5 (ISO 11172-3, 2.4.2.3; ISO 13818-3, 2.4.2.3). 0: free format, its size is unknown.
constexpr std::array<std::array<std::uint16_t, 15>, 5> kBitrates = {{
    {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
    {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
    {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}};
constexpr std::array<std::uint32_t, 3> kRatesHz = {44'100, 48'000, 32'000};

// The size of a frame of MPEG audio by its header; nothing if it is no header or does not tell.
std::optional<std::size_t> mpeg_frame_bytes(PacketBytes bytes) {
  if (bytes.size() < 4 || bytes[0] != 0xFF || (bytes[1] & 0xE0U) != 0xE0) return std::nullopt;
  const unsigned version = bytes[1] >> 3U & 3U;  // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  const unsigned layer = 4 - (bytes[1] >> 1U & 3U);
  const unsigned bitrate = bytes[2] >> 4U;
  const unsigned rate = bytes[2] >> 2U & 3U;
  const unsigned padding = bytes[2] >> 1U & 1U;
  if (version == 1 || layer == 4 || bitrate == 0 || bitrate == 15 || rate == 3) return std::nullopt;
  const bool is_first = version == 3;
  const std::size_t row = is_first ? layer - 1 : layer == 1 ? 3 : 4;
  const std::uint32_t rate_hz = kRatesHz[rate] >> (is_first ? 0U : version == 2 ? 1U : 2U);
  const std::uint32_t bits_per_s = kBitrates[row][bitrate] * 1000U;
  if (layer == 1) return (12 * bits_per_s / rate_hz + padding) * 4;
  return (layer == 3 && !is_first ? 72 : 144) * bits_per_s / rate_hz + padding;
}

std::optional<std::size_t> frame_bytes(AVCodecID codec, PacketBytes bytes) {
  switch (codec) {
    case AV_CODEC_ID_MP1:
    case AV_CODEC_ID_MP2:
    case AV_CODEC_ID_MP3:
      return mpeg_frame_bytes(bytes);
    case AV_CODEC_ID_AC3:
    case AV_CODEC_ID_EAC3: {
      std::uint8_t id = 0;
      std::uint16_t size = 0;
      if (av_ac3_parse_header(bytes.data(), bytes.size(), &id, &size) < 0) return std::nullopt;
      return size;
    }
    default:
      return std::nullopt;
  }
}

// The bytes of a tag that begins here; 0 if none does.
std::uint64_t tag_bytes(PacketBytes bytes) {
  const std::string_view text = letters_of(bytes);
  if (text.starts_with("TAG")) return 128;
  if (text.starts_with("LYRICS")) return bytes.size();
  if (text.starts_with("ID3") && bytes.size() >= 10) {
    std::uint64_t size = 0;
    for (const std::uint8_t byte : bytes.subspan(6, 4)) size = size << 7U | (byte & 0x7FU);
    return size + 10;
  }
  if (text.starts_with("APETAGEX") && bytes.size() >= 16) {
    std::uint64_t size = 0;
    for (std::size_t i = 4; i-- > 0;) size = size << 8U | bytes[12 + i];
    return size + 32;
  }
  return 0;
}

}  // namespace

bool PacketLook::begins_no_sound(const AVPacket& packet) {
  const PacketBytes bytes(packet.data, static_cast<std::size_t>(std::max(packet.size, 0)));
  const std::string_view text = letters_of(bytes);
  if (codec_ == AV_CODEC_ID_OPUS)
    return text.starts_with("OpusHead") || text.starts_with("OpusTags");
  // The blocks of metadata that follow FLAC's first header in Ogg are no frames: these begin with
  // ones.
  if (codec_ == AV_CODEC_ID_FLAC && !is_raw_)
    return text.starts_with("\177FLAC") || (is_tag_ && !text.starts_with('\xFF'));
  if (!is_raw_) return false;
  if (packet.pos >= sound_end_) return true;
  if (std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; })) return true;
  const bool begins_in_tag = tag_bytes_left_ > 0;
  // One tag may follow another one.
  while (tag_bytes_left_ < bytes.size()) {
    const std::uint64_t more = tag_bytes(bytes.subspan(static_cast<std::size_t>(tag_bytes_left_)));
    if (more == 0) break;
    tag_bytes_left_ += more;
  }
  const bool is_in_tag = begins_in_tag || tag_bytes_left_ > 0;
  tag_bytes_left_ -= std::min<std::uint64_t>(tag_bytes_left_, bytes.size());
  return is_in_tag;
}

void PacketLook::see(const AVPacket& packet) {
  const bool follows_tag = is_tag_;
  is_no_sound_ = is_tag_ = begins_no_sound(packet);
  if (is_tag_) return;
  const PacketBytes bytes(packet.data, static_cast<std::size_t>(std::max(packet.size, 0)));
  // libav leaves a tag at the file's end to the last frame of FLAC, and its decoder refuses the
  // rest.
  is_no_sound_ = follows_tag || (is_raw_ && packet.pos + packet.size > sound_end_);
  ++sound_count_;
  missing_bytes_.reset();
  if (!is_raw_) return;
  if (const auto wanted = frame_bytes(codec_, bytes); wanted && *wanted > bytes.size())
    missing_bytes_ = *wanted - bytes.size();
}

}  // namespace xtts::decode::detail
