// What the frame kernels are told: addresses of device memory, and the numbers of a chunk of
// frames. A launch takes a copy.
//
// Compiled by C++ and by CUDA; so no type here has a member function with a body.
#pragma once

#include <cstdint>

#include "dsp/frame_steps.hpp"
#include "dsp/kernels.hpp"

namespace xtts::dsp_cuda {

// Real is double or float, as the recipe's precision says. Each address is that of an array:
struct FrameTable {
  std::uint64_t samples;        // float [sample_count]
  std::uint64_t window;         // Real [n_fft], times sample_scale / 2
  std::uint64_t sines;          // Real [n_fft / 4]
  std::uint64_t cosines;        // Real [n_fft / 4]
  std::uint64_t means;          // Real [frame_room]
  std::uint64_t spectra;        // Real [frame_room][n_fft]: windowed samples, then their transform
  std::uint64_t rows;           // float [frame_room][bin_count]
  std::uint64_t first_bins;     // uint32 [channel_count]
  std::uint64_t bin_counts;     // uint32 [channel_count]
  std::uint64_t weight_starts;  // uint32 [channel_count]
  std::uint64_t weights;        // float, end to end
  std::uint64_t mels;           // float [frame_room][channel_count]
  std::uint64_t energies;       // float [frame_room]
  std::uint64_t not_finite;     // uint32: becomes 1 where a mel before the logarithm is not finite

  dsp::ClipShape clip;
  std::uint64_t sample_count;  // the clip's first samples, as far as any frame reaches
  std::int64_t begin;          // the position of the chunk's first sample in the framed clip
  std::int64_t hop;
  std::uint32_t frame_count;  // of this chunk
  std::uint32_t frame_room;   // the transform's batch; frames behind the last one are zeros
  std::uint32_t n_fft;
  std::uint32_t bin_count;
  std::uint32_t channel_count;
  std::uint32_t weight_count;
  std::uint32_t window_start;  // Kaldi's steps are those of window_count samples from here
  std::uint32_t window_count;
  std::uint32_t is_emphasized;
  std::uint32_t removes_mean;
  std::uint32_t is_unfiltered;  // the bins are the channels
  std::uint32_t is_power;
  double preemphasis;
  dsp::SpectrumOp spectrum_op;
  float spectrum_floor;
  dsp::Compression compression;
};

static_assert(sizeof(FrameTable) <= 4096);  // a launch's parameters on every architecture

// The kernels' names in the module. Each takes a FrameTable as its only parameter. Row y of the
// grid is frame y, but for the two that take one frame a thread.
inline constexpr char kMeansKernel[] = "xtts_frame_means";  // one frame a thread
inline constexpr char kWindowsKernel[] = "xtts_frame_windows";
inline constexpr char kSpectraKernel[] = "xtts_frame_spectra";
inline constexpr char kEnergiesKernel[] = "xtts_frame_energies";  // one frame a thread
inline constexpr char kMelsKernel[] = "xtts_frame_mels";
// Behind the names of the first three, where Real is float.
inline constexpr char kFloatSuffix[] = "_float";

}  // namespace xtts::dsp_cuda
