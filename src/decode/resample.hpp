// SampleResampler: samples that are all there, from one rate to another; bit for bit what
// AudioDecoder makes of a file of the same samples. It keeps its context from call to call. One
// thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::decode {

class SampleResampler {
 public:
  SampleResampler();
  ~SampleResampler();

  // Replaces the content of `out` (its capacity is kept). `resampler` as in DecodeRequest.
  [[nodiscard]] Status apply(std::span<const float> in, std::uint32_t from_hz, std::uint32_t to_hz,
                             const std::string& resampler, std::vector<float>& out);
  // In all calls so far.
  [[nodiscard]] std::chrono::nanoseconds busy_time() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace xtts::decode
