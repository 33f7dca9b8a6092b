#include "dsp_cuda/frame_kernels.hpp"

#include <cstddef>
#include <string>

#include "dsp_cuda/kernels/frame_work.hpp"

// NOLINTBEGIN(readability-identifier-naming): symbols of assembler, as CMake embeds them
extern "C" const std::byte xtts_frame_kernels[];
extern "C" const std::byte xtts_frame_kernels_ptx[];
// NOLINTEND(readability-identifier-naming)

namespace xtts::dsp_cuda {
namespace {

constexpr std::uint32_t kThreadsPerBlock = 256;

}  // namespace

Result<std::unique_ptr<FrameKernels>> FrameKernels::load(
    std::shared_ptr<const cuda::Context> context) {
  XTTS_ASSIGN(cuda::Module module,
              cuda::Module::load(std::move(context), {xtts_frame_kernels, xtts_frame_kernels_ptx}));
  std::unique_ptr<FrameKernels> kernels(new FrameKernels(std::move(module)));
  XTTS_TRY(kernels->find_all());
  return kernels;
}

Status FrameKernels::find_all() {
  const auto find_pair = [&](const std::string& name, Pair& pair) -> Status {
    XTTS_ASSIGN(pair.in_double, module_.find(name.c_str()));
    XTTS_ASSIGN(pair.in_float, module_.find((name + kFloatSuffix).c_str()));
    return {};
  };
  XTTS_TRY(find_pair(kMeansKernel, means_));
  XTTS_TRY(find_pair(kWindowsKernel, windows_));
  XTTS_TRY(find_pair(kSpectraKernel, spectra_));
  XTTS_ASSIGN(energies_, module_.find(kEnergiesKernel));
  XTTS_ASSIGN(mels_, module_.find(kMelsKernel));
  return {};
}

Status FrameKernels::write_means(const FrameTable& table, bool is_double,
                                 cuda::StreamHandle stream) const {
  return launch(means_.of(is_double), table.frame_count, 1, table, stream);
}

// The transform's whole batch gets samples, or zeros.
Status FrameKernels::write_windows(const FrameTable& table, bool is_double,
                                   cuda::StreamHandle stream) const {
  return launch(windows_.of(is_double), table.n_fft, table.frame_room, table, stream);
}

Status FrameKernels::write_spectra(const FrameTable& table, bool is_double,
                                   cuda::StreamHandle stream) const {
  return launch(spectra_.of(is_double), spectrum_piece_count(table), table.frame_count, table,
                stream);
}

Status FrameKernels::write_energies(const FrameTable& table, cuda::StreamHandle stream) const {
  return launch(energies_, table.frame_count, 1, table, stream);
}

Status FrameKernels::write_mels(const FrameTable& table, cuda::StreamHandle stream) const {
  return launch(mels_, table.channel_count, table.frame_count, table, stream);
}

// `row_count` rows of blocks, whose threads do `count` pieces each.
Status FrameKernels::launch(cuda::FunctionHandle function, std::uint32_t count,
                            std::uint32_t row_count, const FrameTable& table,
                            cuda::StreamHandle stream) const {
  const std::uint32_t blocks = (count + kThreadsPerBlock - 1) / kThreadsPerBlock;
  FrameTable copy = table;
  void* parameters[] = {&copy};
  return context()->run("launching a kernel on " + context()->label(),
                        [&](const cuda::DriverCalls& calls) {
                          return calls.launch(function, blocks, row_count, 1, kThreadsPerBlock, 1,
                                              1, 0, stream, parameters, nullptr);
                        });
}

}  // namespace xtts::dsp_cuda
