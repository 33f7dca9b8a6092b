// BandwidthMeter: finds up to which frequency a clip has sound. This tells telephone speech and
// low-rate MP3 from a wide-band recording, whatever their sample rate says.
//
// It takes the mean power spectrum of 16 windows of 1,024 samples, evenly spaced. The result is the
// frequency of the highest bin that is less than 80 dB under the loudest bin. A window is 46 ms at
// 22.05 kHz, so a bin is 22 Hz. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsp/fft.hpp"
#include "dsp/sample_reader.hpp"

namespace xtts::dsp {

class BandwidthMeter {
 public:
  static constexpr std::size_t kWindowSamples = 1024;

  [[nodiscard]] static Result<BandwidthMeter> create(std::uint32_t sample_rate_hz);

  // Measures [begin, end) of a clip, in Hz; nothing for less than a window, and for silence.
  [[nodiscard]] Result<std::optional<float>> measure(SampleReader& samples, std::uint64_t begin,
                                                     std::uint64_t end);

 private:
  BandwidthMeter(std::uint32_t sample_rate_hz, ComplexFft<float> fft);

  float bin_hz_;
  ComplexFft<float> fft_;
  std::vector<float> window_;
  std::vector<float> powers_;
};

}  // namespace xtts::dsp
