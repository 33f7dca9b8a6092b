#include "support/wav_file.hpp"

#include <bit>
#include <numbers>
#include <random>
#include <vector>

namespace xtts::testing {
namespace {

void put_little_endian(std::string& out, std::uint32_t value, int byte_count) {
  for (int i = 0; i < byte_count; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

// `format`: 1 integer PCM, 3 float.
std::string wav_header(const WavShape& shape, std::uint16_t format, std::uint16_t sample_bytes,
                       std::size_t sample_count) {
  const auto data_bytes = static_cast<std::uint32_t>(sample_bytes * sample_count);
  const auto frame_bytes = static_cast<std::uint32_t>(sample_bytes * shape.channel_count);
  std::string out = "RIFF";
  put_little_endian(out, 36 + data_bytes, 4);
  out += "WAVEfmt ";
  put_little_endian(out, 16, 4);
  put_little_endian(out, format, 2);
  put_little_endian(out, shape.channel_count, 2);
  put_little_endian(out, shape.rate_hz, 4);
  put_little_endian(out, shape.rate_hz * frame_bytes, 4);
  put_little_endian(out, frame_bytes, 2);
  put_little_endian(out, 8U * sample_bytes, 2);
  out += "data";
  put_little_endian(out, data_bytes, 4);
  return out;
}

}  // namespace

// `samples` are interleaved.
std::string wav_file(const WavShape& shape, std::span<const std::int16_t> samples) {
  std::string out = wav_header(shape, 1, 2, samples.size());
  for (const std::int16_t sample : samples)
    put_little_endian(out, static_cast<std::uint16_t>(sample), 2);
  return out;
}

std::string float_wav_file(const WavShape& shape, std::span<const float> samples) {
  std::string out = wav_header(shape, 3, 4, samples.size());
  for (const float sample : samples)
    put_little_endian(out, std::bit_cast<std::uint32_t>(sample), 4);
  return out;
}

std::string tone_wav(double hz, const WavShape& shape) {
  std::vector<std::int16_t> samples;
  for (std::size_t frame = 0; frame < shape.frame_count(); ++frame) {
    const double phase = 2.0 * std::numbers::pi * hz * static_cast<double>(frame) /
                         static_cast<double>(shape.rate_hz);
    samples.insert(samples.end(), shape.channel_count,
                   static_cast<std::int16_t>(std::lround(12000.0 * std::sin(phase))));
  }
  return wav_file(shape, samples);
}

std::string noise_wav(std::uint32_t seed, const WavShape& shape) {
  std::mt19937 random(seed);
  std::vector<std::int16_t> samples(shape.frame_count() * shape.channel_count);
  for (auto& sample : samples)
    sample = static_cast<std::int16_t>(static_cast<int>(random() % 16001U) - 8000);
  return wav_file(shape, samples);
}

}  // namespace xtts::testing
