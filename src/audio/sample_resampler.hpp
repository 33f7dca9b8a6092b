// SampleResampler: samples that come piece by piece, from one rate to another; bit for bit what
// AudioDecoder makes of a file of the same samples. It keeps its buffers from signal to signal. One
// thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "audio/audio_decoder.hpp"
#include "xtts/status.hpp"

namespace xtts::audio {

class SampleResampler {
 public:
  SampleResampler();
  ~SampleResampler();

  // A new signal. `resampler` as in DecodeRequest.
  [[nodiscard]] Status begin(std::uint32_t from_hz, std::uint32_t to_hz,
                             const std::string& resampler);
  // What is ready goes to `take`; the rest when the signal ends.
  [[nodiscard]] Status push(std::span<const float> in, const TakeSamples& take);
  [[nodiscard]] Status finish(const TakeSamples& take);
  // Of all signals so far.
  [[nodiscard]] std::chrono::nanoseconds busy_time() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xtts::audio
