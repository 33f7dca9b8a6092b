// FrameKernels: the kernels of kernels/frame_work.hpp, loaded into a GPU's context.
//
// Immutable; any number of threads, each with its own stream. Failures: as cuda::Module's.
#pragma once

#include <memory>
#include <utility>

#include "cuda/module.hpp"
#include "dsp_cuda/kernels/frame_tables.hpp"

namespace xtts::dsp_cuda {

class FrameKernels {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FrameKernels>> load(
      std::shared_ptr<const cuda::Context> context);

  [[nodiscard]] const std::shared_ptr<const cuda::Context>& context() const noexcept {
    return module_.context();
  }
  // Each puts work on the stream, and returns. The table is copied.
  [[nodiscard]] Status write_means(const FrameTable& table, bool is_double,
                                   cuda::StreamHandle stream) const;
  [[nodiscard]] Status write_windows(const FrameTable& table, bool is_double,
                                     cuda::StreamHandle stream) const;
  [[nodiscard]] Status write_spectra(const FrameTable& table, bool is_double,
                                     cuda::StreamHandle stream) const;
  [[nodiscard]] Status write_energies(const FrameTable& table, cuda::StreamHandle stream) const;
  [[nodiscard]] Status write_mels(const FrameTable& table, cuda::StreamHandle stream) const;

 private:
  explicit FrameKernels(cuda::Module module) : module_(std::move(module)) {}
  [[nodiscard]] Status find_all();
  [[nodiscard]] Status launch(cuda::FunctionHandle function, std::uint32_t count,
                              std::uint32_t row_count, const FrameTable& table,
                              cuda::StreamHandle stream) const;

  // A kernel for double, and one for float.
  struct Pair {
    cuda::FunctionHandle in_double = nullptr;
    cuda::FunctionHandle in_float = nullptr;
    [[nodiscard]] cuda::FunctionHandle of(bool is_double) const {
      return is_double ? in_double : in_float;
    }
  };
  cuda::Module module_;
  Pair means_;
  Pair windows_;
  Pair spectra_;
  cuda::FunctionHandle energies_ = nullptr;
  cuda::FunctionHandle mels_ = nullptr;
};

}  // namespace xtts::dsp_cuda
