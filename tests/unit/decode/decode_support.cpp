#include "decode_support.hpp"
#include "decode/libav_decoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace xtts::decode::test {
namespace {

void append(Bytes& bytes, std::uint32_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void append(Bytes& bytes, const char* text) {
  for (; *text != '\0'; ++text) bytes.push_back(static_cast<std::byte>(*text));
}

}  // namespace

Result<std::size_t> MemoryFile::read_at(std::uint64_t offset_bytes,
                                        std::span<std::byte> out) const {
  if (offset_bytes + out.size() > fail_at_bytes_)
    return Status(StatusCode::kResource, "the disk says no");
  if (offset_bytes >= bytes_.size()) return std::size_t{0};
  const std::size_t count = std::min<std::size_t>(out.size(), bytes_.size() - offset_bytes);
  std::memcpy(out.data(), bytes_.data() + offset_bytes, count);
  return count;
}

Result<Decoded> decode_bytes(const Bytes& bytes, const audio::DecodeRequest& request) {
  Decoded decoded;
  Result<audio::SourceFacts> facts =
      audio::decode_whole(*make_libav_decoder(), MemoryFile(bytes), request, decoded.samples);
  if (!facts.ok()) return facts.status();
  decoded.facts = std::move(facts).value();
  return decoded;
}

audio::DecodeRequest at_rate(std::uint32_t rate_hz) {
  audio::DecodeRequest request;
  request.target_rate_hz = rate_hz;
  return request;
}

Bytes fixture(const std::string& name) {
  const std::string path = std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data/" + name;
  const auto text = read_text_file(Env::real(), path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? bytes_of(*text) : Bytes();
}

Bytes bytes_of(const std::string& text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

Bytes first_part(const Bytes& bytes, std::size_t count) {
  return {bytes.begin(),
          bytes.begin() + static_cast<std::ptrdiff_t>(std::min(count, bytes.size()))};
}

Bytes wav(WavKind kind, std::uint32_t bits, std::uint32_t rate_hz, std::uint32_t channels,
          std::span<const std::byte> payload) {
  Bytes bytes;
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  append(bytes, "RIFF");
  append(bytes, 36 + payload_bytes, 4);
  append(bytes, "WAVEfmt ");
  append(bytes, 16, 4);
  append(bytes, static_cast<std::uint32_t>(kind), 2);
  append(bytes, channels, 2);
  append(bytes, rate_hz, 4);
  append(bytes, rate_hz * channels * bits / 8, 4);
  append(bytes, channels * bits / 8, 2);
  append(bytes, bits, 2);
  append(bytes, "data");
  append(bytes, payload_bytes, 4);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::vector<float> sweep(std::uint32_t rate_hz, double first_hz) {
  std::vector<float> samples(static_cast<std::size_t>(std::lround(rate_hz * 0.4)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    samples[i] =
        static_cast<float>(0.4 * std::sin(2 * std::numbers::pi * (first_hz * t + 1500 * t * t)));
  }
  return samples;
}

std::vector<std::int16_t> noise(std::size_t count) {
  std::vector<std::int16_t> samples(count);
  std::uint32_t state = 1;
  for (auto& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = static_cast<std::int16_t>(static_cast<std::int32_t>(state >> 16) - 32768);
  }
  return samples;
}

}  // namespace xtts::decode::test
