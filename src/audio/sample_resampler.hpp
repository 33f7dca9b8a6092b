// SampleResampler: changes the rate of samples that come piece by piece. The result equals, bit for
// bit, what AudioDecoder makes of a file of the same samples. It keeps its buffers from signal to
// signal. One thread at a time.
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

  // Begins a new signal. `resampler` works as in DecodeRequest.
  [[nodiscard]] Status begin(std::uint32_t from_hz, std::uint32_t to_hz,
                             const std::string& resampler);
  // Gives `take` the samples that are ready; finish() gives the rest.
  [[nodiscard]] Status push(std::span<const float> in, const TakeSamples& take);
  [[nodiscard]] Status finish(const TakeSamples& take);
  // The time for all signals so far.
  [[nodiscard]] std::chrono::nanoseconds busy_time() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xtts::audio
