// The frame kernels of src/dsp_cuda for the fake driver: the host does their work, from the headers
// that CUDA compiles. Each launch says which ranges it reads and writes.
#include <limits>
#include <vector>

#include "dsp_cuda/kernels/frame_work.hpp"
#include "support/cuda_driver/added_kernels.hpp"

namespace xtts::testing::fake_cufft {
namespace {

using dsp_cuda::FrameMemory;
using dsp_cuda::FrameTable;
using fake_cuda::KernelLaunch;
using fake_cuda::KernelWork;

// The ranges of a table, and where each came to lie in the host's list of them.
class Ranges {
 public:
  explicit Ranges(KernelWork& work) : work_(work) {}
  std::size_t read(std::uint64_t address, std::uint64_t size_bytes) {
    return add({.address = address, .size_bytes = size_bytes, .is_read = true});
  }
  std::size_t write(std::uint64_t address, std::uint64_t size_bytes) {
    return add({.address = address, .size_bytes = size_bytes, .is_written = true});
  }

 private:
  std::size_t add(const fake_cuda::KernelRange& range) {
    work_.ranges.push_back(range);
    return work_.ranges.size() - 1;
  }
  KernelWork& work_;
};

constexpr std::size_t kNotUsed = std::numeric_limits<std::size_t>::max();

// The number of each array among the ranges.
struct Places {
  std::size_t samples = kNotUsed, window = kNotUsed, sines = kNotUsed, cosines = kNotUsed;
  std::size_t means = kNotUsed, spectra = kNotUsed, rows = kNotUsed, first_bins = kNotUsed;
  std::size_t bin_counts = kNotUsed, weight_starts = kNotUsed, weights = kNotUsed;
  std::size_t mels = kNotUsed, energies = kNotUsed, not_finite = kNotUsed;
};

template <typename T>
T* at(const std::vector<std::byte*>& memory, std::size_t place) {
  return place == kNotUsed ? nullptr : reinterpret_cast<T*>(memory[place]);
}

template <typename Real>
FrameMemory<Real> memory_of(const std::vector<std::byte*>& memory, const Places& places) {
  return {at<const float>(memory, places.samples),
          at<const Real>(memory, places.window),
          at<const Real>(memory, places.sines),
          at<const Real>(memory, places.cosines),
          at<Real>(memory, places.means),
          at<Real>(memory, places.spectra),
          at<float>(memory, places.rows),
          at<const std::uint32_t>(memory, places.first_bins),
          at<const std::uint32_t>(memory, places.bin_counts),
          at<const std::uint32_t>(memory, places.weight_starts),
          at<const float>(memory, places.weights),
          at<float>(memory, places.mels),
          at<float>(memory, places.energies),
          at<std::uint32_t>(memory, places.not_finite)};
}

// Rows of the grid: one for each frame, or one for all.
void check_grid(const KernelLaunch& launch, std::uint32_t row_count, KernelWork& work) {
  if (launch.grid[1] != row_count) {
    work.refusal =
        "grid.y is " + std::to_string(launch.grid[1]) + ", not " + std::to_string(row_count);
  }
  if (launch.grid[0] == 0 || launch.grid[2] != 1 || launch.block[0] == 0 ||
      launch.block[0] > 1024 || launch.block[1] != 1 || launch.block[2] != 1) {
    work.refusal = "the grid or a block has the wrong shape";
  }
}

// A clip's memory with NaN behind the samples that were copied: a frame that reaches there shows
// it.
template <typename Real, typename Step>
void with_samples(const FrameTable& table, FrameMemory<Real> memory, const Step& step) {
  std::vector<float> samples(static_cast<std::size_t>(table.clip.sample_count),
                             std::numeric_limits<float>::quiet_NaN());
  std::copy_n(memory.samples, table.sample_count, samples.begin());
  memory.samples = samples.data();
  step(memory);
}

template <typename Real>
KernelWork plan_means(const KernelLaunch& launch) {
  const auto table = *static_cast<const FrameTable*>(launch.parameters[0]);
  KernelWork work;
  check_grid(launch, 1, work);
  Ranges ranges(work);
  Places places;
  places.samples = ranges.read(table.samples, table.sample_count * sizeof(float));
  places.means = ranges.write(table.means, table.frame_count * sizeof(Real));
  work.piece_count = table.frame_count;
  work.run = [table, places](const auto& memory, std::size_t begin, std::size_t end) {
    with_samples(table, memory_of<Real>(memory, places), [&](const FrameMemory<Real>& own) {
      for (std::size_t i = begin; i < end; ++i) {
        dsp_cuda::write_mean(table, own, static_cast<std::uint32_t>(i));
      }
    });
  };
  return work;
}

// `step` takes the table, the memory, a frame and a piece of it.
template <typename Real, typename Step>
void run_rows(KernelWork& work, const FrameTable& table, const Places& places,
              std::uint32_t row_count, std::uint32_t piece_count, Step step) {
  work.piece_count = std::size_t{row_count} * piece_count;
  work.run = [=](const std::vector<std::byte*>& memory, std::size_t begin, std::size_t end) {
    const FrameMemory<Real> own = memory_of<Real>(memory, places);
    for (std::size_t i = begin; i < end; ++i) {
      step(table, own, static_cast<std::uint32_t>(i / piece_count),
           static_cast<std::uint32_t>(i % piece_count));
    }
  };
}

template <typename Real>
KernelWork plan_windows(const KernelLaunch& launch) {
  const auto table = *static_cast<const FrameTable*>(launch.parameters[0]);
  KernelWork work;
  check_grid(launch, table.frame_room, work);
  Ranges ranges(work);
  Places places;
  places.samples = ranges.read(table.samples, table.sample_count * sizeof(float));
  places.window = ranges.read(table.window, table.n_fft * sizeof(Real));
  if (table.removes_mean != 0) {
    places.means = ranges.read(table.means, table.frame_count * sizeof(Real));
  }
  places.spectra =
      ranges.write(table.spectra, std::uint64_t{table.frame_room} * table.n_fft * sizeof(Real));
  const std::size_t n_fft = table.n_fft;
  work.piece_count = table.frame_room * n_fft;
  work.run = [=](const std::vector<std::byte*>& memory, std::size_t begin, std::size_t end) {
    with_samples(table, memory_of<Real>(memory, places), [&](const FrameMemory<Real>& own) {
      for (std::size_t i = begin; i < end; ++i) {
        dsp_cuda::write_windowed(table, own, static_cast<std::uint32_t>(i / n_fft),
                                 static_cast<std::uint32_t>(i % n_fft));
      }
    });
  };
  return work;
}

std::uint64_t row_bytes(const FrameTable& table) {
  return std::uint64_t{table.frame_count} * table.bin_count * sizeof(float);
}

template <typename Real>
KernelWork plan_spectra(const KernelLaunch& launch) {
  const auto table = *static_cast<const FrameTable*>(launch.parameters[0]);
  KernelWork work;
  check_grid(launch, table.frame_count, work);
  Ranges ranges(work);
  Places places;
  places.sines = ranges.read(table.sines, table.n_fft / 4 * sizeof(Real));
  places.cosines = ranges.read(table.cosines, table.n_fft / 4 * sizeof(Real));
  places.spectra =
      ranges.read(table.spectra, std::uint64_t{table.frame_count} * table.n_fft * sizeof(Real));
  places.rows = ranges.write(table.rows, row_bytes(table));
  run_rows<Real>(work, table, places, table.frame_count, dsp_cuda::spectrum_piece_count(table),
                 [](const auto&... arguments) { dsp_cuda::write_bins(arguments...); });
  return work;
}

KernelWork plan_energies(const KernelLaunch& launch) {
  const auto table = *static_cast<const FrameTable*>(launch.parameters[0]);
  KernelWork work;
  check_grid(launch, 1, work);
  Ranges ranges(work);
  Places places;
  places.rows = ranges.read(table.rows, row_bytes(table));
  places.energies = ranges.write(table.energies, table.frame_count * sizeof(float));
  run_rows<float>(work, table, places, table.frame_count, 1,
                  [](const auto& of, const auto& own, std::uint32_t frame, std::uint32_t) {
                    dsp_cuda::write_energy(of, own, frame);
                  });
  return work;
}

KernelWork plan_mels(const KernelLaunch& launch) {
  const auto table = *static_cast<const FrameTable*>(launch.parameters[0]);
  KernelWork work;
  check_grid(launch, table.frame_count, work);
  Ranges ranges(work);
  Places places;
  places.rows = ranges.read(table.rows, row_bytes(table));
  if (table.is_unfiltered == 0) {
    const std::uint64_t list_bytes = table.channel_count * sizeof(std::uint32_t);
    places.first_bins = ranges.read(table.first_bins, list_bytes);
    places.bin_counts = ranges.read(table.bin_counts, list_bytes);
    places.weight_starts = ranges.read(table.weight_starts, list_bytes);
    places.weights = ranges.read(table.weights, table.weight_count * sizeof(float));
  }
  places.mels = ranges.write(
      table.mels, std::uint64_t{table.frame_count} * table.channel_count * sizeof(float));
  places.not_finite = ranges.write(table.not_finite, sizeof(std::uint32_t));
  run_rows<float>(work, table, places, table.frame_count, table.channel_count,
                  [](const auto&... arguments) { dsp_cuda::write_mel(arguments...); });
  return work;
}

// Loading the library brings the kernels.
const bool are_added = [] {
  const std::string suffix = dsp_cuda::kFloatSuffix;
  fake_cuda::add_kernel(dsp_cuda::kMeansKernel, plan_means<double>);
  fake_cuda::add_kernel(dsp_cuda::kMeansKernel + suffix, plan_means<float>);
  fake_cuda::add_kernel(dsp_cuda::kWindowsKernel, plan_windows<double>);
  fake_cuda::add_kernel(dsp_cuda::kWindowsKernel + suffix, plan_windows<float>);
  fake_cuda::add_kernel(dsp_cuda::kSpectraKernel, plan_spectra<double>);
  fake_cuda::add_kernel(dsp_cuda::kSpectraKernel + suffix, plan_spectra<float>);
  fake_cuda::add_kernel(dsp_cuda::kEnergiesKernel, plan_energies);
  fake_cuda::add_kernel(dsp_cuda::kMelsKernel, plan_mels);
  return true;
}();

}  // namespace
}  // namespace xtts::testing::fake_cufft
