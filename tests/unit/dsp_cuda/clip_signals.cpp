#include "unit/dsp_cuda/clip_signals.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace xtts::testing {
namespace {

constexpr std::size_t kHeaderBytes = 44;

// LJSpeech's files: 16-bit PCM behind a plain header.
std::vector<float> read_wav(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> samples;
  for (std::size_t i = kHeaderBytes; i + 2 <= bytes.size(); i += 2) {
    std::int16_t sample = 0;
    std::memcpy(&sample, bytes.data() + i, sizeof sample);
    samples.push_back(static_cast<float>(sample) / 32768.0F);
  }
  return samples;
}

}  // namespace

std::vector<float> made_clip(std::size_t sample_count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0.0, 3e-4);
  std::vector<float> samples(sample_count);
  for (std::size_t i = 0; i < sample_count; ++i) {
    const double t = static_cast<double>(i) / 22050.0;
    double value = noise(random);
    for (int harmonic = 1; harmonic < 20; ++harmonic) {
      value += 0.3 / harmonic * std::sin(2.0 * 3.14159265358979 * 140.0 * harmonic * t) *
               std::max(0.0, std::sin(9.0 * t));
    }
    samples[i] = static_cast<float>(value);
  }
  return samples;
}

std::vector<ClipSignal> real_or_made_clips() {
  const char* const folder = std::getenv("XTTS_CORPUS");
  std::vector<ClipSignal> clips;
  for (const char* const id : {"LJ001-0002", "LJ001-0004"}) {
    if (folder == nullptr) break;
    auto samples = read_wav(std::string(folder) + "/real_ljspeech/wavs/" + id + ".wav");
    if (!samples.empty()) clips.push_back({.name = id, .samples = std::move(samples)});
  }
  if (clips.empty()) clips.push_back({.name = "made", .samples = made_clip(70'001, 1)});
  return clips;
}

}  // namespace xtts::testing
