// AudioDecoder: turns an audio file in any format into one channel of float samples at the wanted
// rate.
//
// Bytes in: the file, read once through RandomAccessFile::read_at. Bytes out: 4 bytes a sample at
// the target rate, piece by piece. Frames are mixed down and resampled as they leave the codec, so
// memory is a piece (a quarter of a MiB) and one codec frame, for any length. Lengths come from
// decoded samples, never from headers.
//
// A decoder belongs to one thread at a time and keeps its buffers from clip to clip: fresh large
// buffers cost page faults, which cost more than the arithmetic. Failures: kBadInput (these bytes
// will fail again), kSourceIo (reading failed), kResource (memory), kInvalidArgument (a request
// that makes no sense). After a failure the decoder is ready for the next clip.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/format.hpp"
#include "audio/header_length.hpp"
#include "base/env.hpp"
#include "base/hash.hpp"
#include "xtts/status.hpp"

namespace xtts::audio {

enum class Mix : std::uint8_t { kMean, kFirst };

struct DecodeRequest {
  // 0: the source's own rate (that of its first sample, if it changes), for sources of which only
  // parts are wanted.
  std::uint32_t target_rate_hz = 22050;
  Mix mix = Mix::kMean;
  // A name of resampler.hpp.
  std::string resampler = "soxr_hq";
  double source_seconds_max = 7200.0;  // decoding of a longer source stops there: is_over_long
  // The suffix of the file's name, without the dot ("gsm"). It decides only if the content has no
  // header (decode/formats.hpp, kReadBySuffix).
  std::string suffix = {};
};

// kInvalidArgument if the request makes no sense.
[[nodiscard]] Status check(const DecodeRequest& request);

// The kind of a file's content, if its name does not say it.
enum class ContentKind : std::uint8_t {
  kSound,     // worth decoding
  kNotSound,  // pictures, text, unknown bytes
  kRefused,   // sound that is not read, or a name of such sound; `reason` says why
};

struct Recognition {
  ContentKind kind = ContentKind::kNotSound;
  std::string reason = {};  // continues a sentence; empty unless refused
};

// Something odd about sound that was decoded.
struct Warning {
  enum class Kind : std::uint8_t {
    kRateChanges,     // `numbers`: how many times
    kPacketsSkipped,  // `numbers`: how many; `text`: what was wrong with the first
    kComplaint,       // `text`: FFmpeg's first complaint
    kReadingStopped,  // `text`: why
    kEndsEarly,       // `numbers`: missing seconds, and the seconds that the header promises
    kEndMissing,      // `text`: what shows it, where nobody knows how many seconds are missing
  };
  Kind kind = Kind::kComplaint;
  std::array<double, 2> numbers = {};
  std::string text = {};

  friend bool operator==(const Warning&, const Warning&) = default;
};

// The facts that decoding learns about the source. Samples are counted before mixing and
// resampling, per channel.
struct SourceFacts {
  std::string container;  // libav's name: "wav", "mov,mp4,m4a,3gp,3g2,mj2"
  std::string codec;      // libav's name: "pcm_s16le"
  std::uint32_t sample_rate_hz = 0;
  std::uint16_t channel_count = 0;
  std::uint64_t frame_count = 0;  // samples of one channel at the source's rate
  // Of these, the first ones, up to where the file is damaged or cut, if it is.
  std::uint64_t whole_frame_count = 0;
  // |x| at or beyond full scale (32767/32768; 127/128 in 8-bit files), all channels
  std::uint64_t clipped_sample_count = 0;
  std::uint64_t nonfinite_sample_count =
      0;                      // NaN and Inf, all channels; they are replaced by 0 in the output
  bool is_over_long = false;  // longer than allowed: all other fields are about the part before
  Digest pcm_digest;          // of the mixed float32 samples at the source's rate
  std::vector<Warning> warnings;
};

// The limit that a source has passed while it was decoded.
struct ExceededLimit {
  enum class Kind : std::uint8_t {
    kProcessorTime,  // `numbers`: the seconds that the source was worth, and its bytes
    kMemory,         // the MiB that a decoder may take
    kIdleTime,       // the seconds that a decoder may stand still
  };
  Kind kind = Kind::kProcessorTime;
  std::array<double, 2> numbers = {};
};

// Takes the samples of a source piece by piece; its failure ends the decoding and is returned.
using TakeSamples = std::function<Status(std::span<const float>)>;

class AudioDecoder {
 public:
  virtual ~AudioDecoder() = default;
  [[nodiscard]] virtual Result<SourceFacts> decode(const RandomAccessFile& source,
                                                   const DecodeRequest& request,
                                                   const TakeSamples& take) = 0;
  // Looks only at the first bytes. It has the same failures as decode().
  [[nodiscard]] virtual Result<Recognition> recognise(const RandomAccessFile& source,
                                                      std::string_view suffix) = 0;
  // How long the sound is, by its container, or else by its packets; nothing is decoded but what
  // names the rate. For plans: what decode() finds may be shorter. It has the same failures.
  [[nodiscard]] virtual Result<SourceLength> length(const RandomAccessFile& source,
                                                    std::string_view suffix) = 0;
  // The limit that made the last call fail; empty if it failed otherwise, or succeeded.
  [[nodiscard]] virtual std::optional<ExceededLimit> exceeded_limit() const noexcept {
    return std::nullopt;
  }
  // The time that all calls so far have spent on resampling.
  [[nodiscard]] virtual std::chrono::nanoseconds resampling_time() const noexcept = 0;
  // The libraries that decide the samples, for `numerics`: "libavformat 59.27.100, libavcodec
  // 59.37.100, ...".
  [[nodiscard]] virtual Result<std::string> libraries() = 0;
  // All formats that these libraries could read.
  [[nodiscard]] virtual Result<FormatList> formats() = 0;
};

// Makes a decoder for one thread at a time. If decoding can be ended from outside, it ends with
// kCancelled once `cancelled` returns true. Any thread may call it.
using MakeDecoder = std::function<std::unique_ptr<AudioDecoder>(std::function<bool()> cancelled)>;

// Decodes the whole sound of a short source; replaces the content of `samples` (its capacity is
// kept).
[[nodiscard]] inline Result<SourceFacts> decode_whole(AudioDecoder& decoder,
                                                      const RandomAccessFile& source,
                                                      const DecodeRequest& request,
                                                      std::vector<float>& samples) {
  samples.clear();
  return decoder.decode(source, request, [&](std::span<const float> piece) {
    samples.insert(samples.end(), piece.begin(), piece.end());
    return Status();
  });
}

}  // namespace xtts::audio
