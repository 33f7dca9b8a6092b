// Sources, signals and WAV bytes for the decoder's tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"

namespace xtts::decode::test {

using Bytes = std::vector<std::byte>;

// A file in memory whose reads fail from `fail_at_bytes` on.
class MemoryFile final : public RandomAccessFile {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  explicit MemoryFile(Bytes bytes, std::uint64_t fail_at_bytes = kNever)
      : bytes_(std::move(bytes)), fail_at_bytes_(fail_at_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override;

 private:
  Bytes bytes_;
  std::uint64_t fail_at_bytes_;
};

struct Decoded {
  audio::SourceFacts facts;
  std::vector<float> samples;
};

// With a fresh decoder, at the source's own rate unless the request says otherwise.
[[nodiscard]] Result<Decoded> decode_bytes(const Bytes& bytes, const audio::DecodeRequest& request);
[[nodiscard]] audio::DecodeRequest at_rate(std::uint32_t rate_hz);

// A file of tests/unit/decode/data; empty (and a failed expectation) when it is missing.
[[nodiscard]] Bytes fixture(const std::string& name);

[[nodiscard]] Bytes bytes_of(const std::string& text);
[[nodiscard]] Bytes first_part(const Bytes& bytes, std::size_t count);

enum class WavKind : std::uint16_t { kInteger = 1, kFloat = 3 };

// A WAV file of the interleaved payload.
[[nodiscard]] Bytes wav(WavKind kind, std::uint32_t bits, std::uint32_t rate_hz,
                        std::uint32_t channels, std::span<const std::byte> payload);

template <typename Sample>
[[nodiscard]] Bytes wav_of(WavKind kind, std::uint32_t rate_hz, std::uint32_t channels,
                           const std::vector<Sample>& samples) {
  return wav(kind, 8 * sizeof(Sample), rate_hz, channels, std::as_bytes(std::span(samples)));
}

// The signals of data/make_fixtures.py.
[[nodiscard]] std::vector<float> sweep(std::uint32_t rate_hz, double first_hz);
[[nodiscard]] std::vector<std::int16_t> noise(std::size_t count);

}  // namespace xtts::decode::test
