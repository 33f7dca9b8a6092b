// Makes WAV files of 16-bit PCM or float32: tones and noise, with the same bytes on every machine.
// Pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace xtts::testing {

struct WavShape {
  double seconds = 0.5;
  std::uint32_t rate_hz = 22050;
  std::uint16_t channel_count = 1;

  [[nodiscard]] std::size_t frame_count() const {
    return static_cast<std::size_t>(std::llround(seconds * rate_hz));
  }
};

// `samples` are interleaved.
[[nodiscard]] std::string wav_file(const WavShape& shape, std::span<const std::int16_t> samples);
[[nodiscard]] std::string float_wav_file(const WavShape& shape, std::span<const float> samples);

[[nodiscard]] std::string tone_wav(double hz, const WavShape& shape = {});
[[nodiscard]] std::string noise_wav(std::uint32_t seed, const WavShape& shape = {});

}  // namespace xtts::testing
