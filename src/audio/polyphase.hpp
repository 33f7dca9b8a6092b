// A polyphase filter changes the rate of one channel: each output sample is a sum of some input
// samples times a row of taps. The rows repeat after `to` outputs, which stand for `from` inputs:
//
//   y[b * to + p] = sum over i of taps[p][i] * x[b * from + first[p] + i]
//
// Two filters are known, each computed from its library's formula:
// - torchaudio's, the default of torchaudio.transforms.Resample: a sinc in a Hann window, 6 zero
//   crossings wide, cut at 0.99 of the lower Nyquist frequency. The signal has zeros around it. The
//   taps equal torchaudio's bit for bit. It divides the phase in float32, and so do we: that moves
//   its taps by up to 2e-5. Its taps outside of the window are 0 and are left out.
// - libswresample's default, which `ffmpeg -ar` uses: a sinc in a Kaiser window (beta 9), 32 taps
//   at 0.97 of the lower Nyquist frequency. The signal is mirrored at both ends. The outputs are
//   rounded to steps of 16 bits, as `ffmpeg -acodec pcm_s16le` gives them. libswresample computes
//   sound of 16 bits in integers, with taps of 16 bits. A signal counts as such if its first 4,096
//   samples are steps of 16 bits, or means of two, which are rounded first. (libswresample rounds
//   them afterwards, which is a step of 16 bits apart in one sample of five.)
//
// Products of two floats are exact in double, and sums have a fixed order: all processors and
// compilers give the same bits, however the signal is cut into pieces. Memory is the taps and one
// row of samples. There are about 12 taps (torchaudio's) or 66 (libswresample's) for each unit of
// max(from, to): kilobytes for common rates, at most 220 MB for 767,999 Hz. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/output_samples.hpp"

namespace xtts::audio {

struct PolyphaseFilter {
  enum class Edge : std::uint8_t { kZeros, kMirror };
  enum class Steps : std::uint8_t { kFloat32, kInt16 };

  std::uint32_t from = 1;  // the rates without their common divisor
  std::uint32_t to = 1;
  std::size_t row_length = 0;       // libswresample's own count of taps
  std::size_t tap_count = 0;        // of a row, zeros at its end included: a multiple of 8
  std::vector<std::int64_t> first;  // [to]; negative before the first sample
  std::vector<float> taps;          // [to, tap_count]
  std::vector<float> int16_taps;    // the same for sound of 16 bits; empty: `taps` are for all
  Edge edge = Edge::kZeros;
  Steps steps = Steps::kFloat32;
};

[[nodiscard]] PolyphaseFilter torchaudio_filter(std::uint32_t from_hz, std::uint32_t to_hz);
// At equal rates it only rounds.
[[nodiscard]] PolyphaseFilter swresample_filter(std::uint32_t from_hz, std::uint32_t to_hz);

// The length that the library gives `length` samples.
[[nodiscard]] std::uint64_t length_through(const PolyphaseFilter& filter, std::uint64_t length);

// Applies a filter to samples that come piece by piece.
class PolyphaseResampler {
 public:
  // A new filter, and a new signal.
  void set_filter(PolyphaseFilter filter);
  // A new signal for the same filter.
  void begin() noexcept;
  void push(std::span<const float> in, OutputSamples& out);
  // Gives the rest, and returns the length of the whole signal.
  std::uint64_t finish(OutputSamples& out);

 private:
  [[nodiscard]] double beyond(std::int64_t index) const;
  void add_front();
  void round(std::size_t first);
  void make(std::uint64_t length_max, OutputSamples& out);

  PolyphaseFilter filter_;
  std::size_t front_count_ = 0;  // samples that rows need before the signal
  std::size_t looked_at_ = 0;    // samples that must be there before the first output
  const float* taps_ = nullptr;  // those of filter_ that fit the signal
  std::vector<double> held_;     // the samples that later outputs need
  std::int64_t held_begin_ = 0;  // the index of the first
  bool has_front_ = false;       // held_ began before the signal
  bool rounds_ = false;          // samples are rounded as they come
  std::uint64_t in_count_ = 0;
  std::uint64_t block_ = 0;  // of the next output
  std::uint32_t row_ = 0;
};

}  // namespace xtts::audio
