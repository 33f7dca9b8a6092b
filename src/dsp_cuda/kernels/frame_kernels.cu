// The frame kernels. frame_work.hpp has their work; here is only who does which piece.
#include "dsp_cuda/kernels/frame_work.hpp"

namespace {

using xtts::dsp_cuda::FrameMemory;
using xtts::dsp_cuda::FrameTable;

template <typename T>
__device__ T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(address);
}

template <typename Real>
__device__ FrameMemory<Real> memory_of(const FrameTable& table) {
  return {at<const float>(table.samples),
          at<const Real>(table.window),
          at<const Real>(table.sines),
          at<const Real>(table.cosines),
          at<Real>(table.means),
          at<Real>(table.spectra),
          at<float>(table.rows),
          at<const std::uint32_t>(table.first_bins),
          at<const std::uint32_t>(table.bin_counts),
          at<const std::uint32_t>(table.weight_starts),
          at<const float>(table.weights),
          at<float>(table.mels),
          at<float>(table.energies),
          at<std::uint32_t>(table.not_finite)};
}

__device__ std::uint32_t thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// Each thread of the row takes pieces in turn.
template <typename Work>
__device__ void for_pieces(std::uint32_t count, const Work& work) {
  for (std::uint32_t i = thread_number(); i < count; i += gridDim.x * blockDim.x) work(i);
}

template <typename Real>
__device__ void write_means(const FrameTable& table) {
  const FrameMemory<Real> memory = memory_of<Real>(table);
  for_pieces(table.frame_count, [&](std::uint32_t frame) { write_mean(table, memory, frame); });
}

template <typename Real>
__device__ void write_windows(const FrameTable& table) {
  const FrameMemory<Real> memory = memory_of<Real>(table);
  for_pieces(table.n_fft,
             [&](std::uint32_t n) { write_windowed(table, memory, blockIdx.y, n); });
}

template <typename Real>
__device__ void write_spectra(const FrameTable& table) {
  const FrameMemory<Real> memory = memory_of<Real>(table);
  for_pieces(xtts::dsp_cuda::spectrum_piece_count(table),
             [&](std::uint32_t piece) { write_bins(table, memory, blockIdx.y, piece); });
}

}  // namespace

extern "C" __global__ void xtts_frame_means(const __grid_constant__ FrameTable table) {
  write_means<double>(table);
}
extern "C" __global__ void xtts_frame_means_float(const __grid_constant__ FrameTable table) {
  write_means<float>(table);
}
extern "C" __global__ void xtts_frame_windows(const __grid_constant__ FrameTable table) {
  write_windows<double>(table);
}
extern "C" __global__ void xtts_frame_windows_float(const __grid_constant__ FrameTable table) {
  write_windows<float>(table);
}
extern "C" __global__ void xtts_frame_spectra(const __grid_constant__ FrameTable table) {
  write_spectra<double>(table);
}
extern "C" __global__ void xtts_frame_spectra_float(const __grid_constant__ FrameTable table) {
  write_spectra<float>(table);
}
// These two read no Real.
extern "C" __global__ void xtts_frame_energies(const __grid_constant__ FrameTable table) {
  const FrameMemory<float> memory = memory_of<float>(table);
  for_pieces(table.frame_count, [&](std::uint32_t frame) { write_energy(table, memory, frame); });
}
extern "C" __global__ void xtts_frame_mels(const __grid_constant__ FrameTable table) {
  const FrameMemory<float> memory = memory_of<float>(table);
  for_pieces(table.channel_count,
             [&](std::uint32_t channel) { write_mel(table, memory, blockIdx.y, channel); });
}
