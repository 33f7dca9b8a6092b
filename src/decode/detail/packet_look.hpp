// PacketLook: what the bytes of a packet say, beside the codec. Raw streams (MP3, AC-3, FLAC) have
// no container that says which bytes are sound, and where a frame is cut. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "decode/detail/libav.hpp"

namespace xtts::decode::detail {

class PacketLook {
 public:
  // `sound_end`: of a raw stream, where the tags at the file's end begin.
  PacketLook(const AVStream& stream, bool is_raw, std::uint64_t sound_end)
      : codec_(stream.codecpar->codec_id),
        is_raw_(is_raw),
        sound_end_(static_cast<std::int64_t>(sound_end)) {}

  // Remembers the packet as the last one.
  void see(const AVPacket& packet);
  // True where the last packet, which the codec refused, holds no sound: tags at the end or between
  // joined files, zeros, headers of a further stream. All of a tag counts, however many packets
  // libav makes of it, and so does one packet behind it: libav looks for the next frame there.
  [[nodiscard]] bool is_no_sound() const noexcept { return is_no_sound_; }
  // The number of packets that are sound, and of the bytes that the last one lacks by its header.
  [[nodiscard]] std::uint64_t sound_count() const noexcept { return sound_count_; }
  [[nodiscard]] std::optional<std::size_t> missing_bytes() const noexcept { return missing_bytes_; }

 private:
  [[nodiscard]] bool begins_no_sound(const AVPacket& packet);

  AVCodecID codec_;
  bool is_raw_;
  std::int64_t sound_end_;
  bool is_no_sound_ = false;
  bool is_tag_ = false;
  std::uint64_t tag_bytes_left_ = 0;
  std::uint64_t sound_count_ = 0;
  std::optional<std::size_t> missing_bytes_;
};

}  // namespace xtts::decode::detail
