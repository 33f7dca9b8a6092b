// The work of the frame kernels, one value or one frame a call. The arithmetic is that of the CPU:
// dsp/frame_steps.hpp and dsp/kernels_common.hpp have it. CUDA compiles this file for devices, C++
// for the tests' driver.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "dsp/frame_steps.hpp"
#include "dsp/kernels_common.hpp"
#include "dsp_cuda/kernels/frame_tables.hpp"

namespace xtts::dsp_cuda {

// The memory of a table, by pointers that may be used.
template <typename Real>
struct FrameMemory {
  const float* samples;
  const Real* window;
  const Real* sines;
  const Real* cosines;
  Real* means;
  Real* spectra;
  float* rows;
  const std::uint32_t* first_bins;
  const std::uint32_t* bin_counts;
  const std::uint32_t* weight_starts;
  const float* weights;
  float* mels;
  float* energies;
  std::uint32_t* not_finite;
};

// The sample of a frame at `offset`.
struct FrameSample {
  const FrameTable& table;
  const float* samples;
  std::int64_t begin;
  XTTS_ON_BOTH float operator()(std::uint64_t offset) const {
    return dsp::sample_at(table.clip, samples, begin + static_cast<std::int64_t>(offset));
  }
};

XTTS_ON_BOTH inline FrameSample sample_of_frame(const FrameTable& table, const float* samples,
                                                std::uint32_t frame) {
  return {table, samples, table.begin + table.hop * frame};
}

// The mean of a frame's window.
template <typename Real>
XTTS_ON_BOTH inline void write_mean(const FrameTable& table, const FrameMemory<Real>& memory,
                                    std::uint32_t frame) {
  FrameSample get = sample_of_frame(table, memory.samples, frame);
  get.begin += table.window_start;
  memory.means[frame] = dsp::mean_of<Real>(table.window_count, get);
}

// One windowed sample; 0 in frames behind the last one.
template <typename Real>
XTTS_ON_BOTH inline void write_windowed(const FrameTable& table, const FrameMemory<Real>& memory,
                                        std::uint32_t frame, std::uint32_t n) {
  Real& out = memory.spectra[std::uint64_t{frame} * table.n_fft + n];
  out = Real{0};
  if (frame >= table.frame_count) return;
  const FrameSample get = sample_of_frame(table, memory.samples, frame);
  if (table.is_emphasized == 0) {
    out = static_cast<Real>(get(n)) * memory.window[n];
    return;
  }
  if (n < table.window_start || n - table.window_start >= table.window_count) return;
  const Real mean = table.removes_mean != 0 ? memory.means[frame] : Real{0};
  const Real x = static_cast<Real>(get(n)) - mean;
  const Real before =
      n == table.window_start ? x : static_cast<Real>(get(std::uint64_t{n} - 1)) - mean;
  out = dsp::emphasized(x, before, static_cast<Real>(table.preemphasis), memory.window[n]);
}

// The number of calls that make a frame's spectrum: one for both ends, one for each pair of bins.
XTTS_ON_BOTH inline std::uint32_t spectrum_piece_count(const FrameTable& table) {
  return table.n_fft / 4 + 1;
}

template <typename Real>
XTTS_ON_BOTH inline void write_bins(const FrameTable& table, const FrameMemory<Real>& memory,
                                    std::uint32_t frame, std::uint32_t piece) {
  const Real* const transform = memory.spectra + std::uint64_t{frame} * table.n_fft;
  float* const row = memory.rows + std::uint64_t{frame} * table.bin_count;
  if (piece == 0) {
    dsp::unpack_ends(transform, table.n_fft / 2, table.spectrum_op, table.spectrum_floor, row);
    return;
  }
  const dsp::UnpackTable<Real> unpack{table.n_fft / 2, memory.sines, memory.cosines};
  dsp::unpack_pair(transform, unpack, piece, table.spectrum_op, table.spectrum_floor, row);
}

template <typename Real>
XTTS_ON_BOTH inline void write_energy(const FrameTable& table, const FrameMemory<Real>& memory,
                                      std::uint32_t frame) {
  const float* const row = memory.rows + std::uint64_t{frame} * table.bin_count;
  memory.energies[frame] = dsp::energy_of(row, table.bin_count, table.is_power != 0);
}

// Any number of threads may do it at once.
XTTS_ON_BOTH inline void note_not_finite(std::uint32_t* flag) {
#ifdef __CUDA_ARCH__
  *flag = 1;
#else
  __atomic_store_n(flag, 1U, __ATOMIC_RELAXED);
#endif
}

// One mel, from its band to its compressed value.
template <typename Real>
XTTS_ON_BOTH inline void write_mel(const FrameTable& table, const FrameMemory<Real>& memory,
                                   std::uint32_t frame, std::uint32_t channel) {
  const float* const row = memory.rows + std::uint64_t{frame} * table.bin_count;
  const float mel =
      table.is_unfiltered != 0
          ? row[channel]
          : dsp::dot(row + memory.first_bins[channel],
                     memory.weights + memory.weight_starts[channel], memory.bin_counts[channel]);
  const bool is_finite = mel - mel == 0.0F;
  if (!is_finite) note_not_finite(memory.not_finite);
  memory.mels[std::uint64_t{frame} * table.channel_count + channel] =
      dsp::compress_one(table.compression, mel);
}

}  // namespace xtts::dsp_cuda
