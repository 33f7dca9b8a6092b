// header_length: how long a source is, as its own header says, for the commonest formats: WAV
// (plain samples), FLAC, MP3, MP4 (m4a), and Opus or Vorbis in Ogg. For plans, which need no exact
// length: what decoding finds decides what becomes of a clip.
//
// Bytes in: a few KiB of the head; of Ogg the last 64 KiB, too; of an MP3 without a count of its
// frames the whole file, once, of which only the frames' headers are looked at. Seconds: 2 to 7 us
// of a processor for a file in the page cache, where a worker process (AudioDecoder::length) needs
// 130. No codec runs here, and no byte is believed: each read is bounded, and no length makes
// memory. Pure but for the reads; share freely.
#pragma once

#include <cstdint>
#include <optional>

#include "base/env.hpp"

namespace xtts::audio {

constexpr std::uint32_t kSampleRateHzMax = 768'000;  // of sources that are read

struct SourceLength {
  std::uint32_t sample_rate_hz = 0;  // above 0; of an MP4 the clock of its header
  std::uint64_t frame_count = 0;     // samples of one channel, or ticks of that clock

  friend bool operator==(const SourceLength&, const SourceLength&) = default;
};

// True where a source of so many bytes can be so long: an hour of silence may be 30 kB of FLAC, and
// no coding is thinner.
[[nodiscard]] constexpr bool may_hold_seconds(std::uint64_t bytes, double seconds) noexcept {
  constexpr double kBytesPerSecondMin = 8.0;
  return seconds * kBytesPerSecondMin <= static_cast<double>(bytes);
}

// Nothing: another format, a header that does not say it, or a read that failed.
[[nodiscard]] std::optional<SourceLength> header_length(const RandomAccessFile& source);

}  // namespace xtts::audio
