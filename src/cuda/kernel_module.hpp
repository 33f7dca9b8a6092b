// Kernels: the project's kernels, loaded into a GPU's context. They fill padding, widen half floats
// and normalize (kernels/range_work.hpp).
//
// Immutable; any number of threads, each with its own stream. Failures: kUnsupported (this build
// has no kernels for this GPU and driver), and Context's.
#pragma once

#include <memory>
#include <utility>

#include "cuda/context.hpp"
#include "cuda/kernels/range_tables.hpp"
#include "cuda/module.hpp"

namespace xtts::cuda {

class Kernels {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Kernels>> load(
      std::shared_ptr<const Context> context);

  // Each puts work on the stream, and returns. The table is copied. A table without ranges is no
  // work.
  [[nodiscard]] Status fill(const FillTable& table, StreamHandle stream) const;
  [[nodiscard]] Status change(const ChangeTable& table, StreamHandle stream) const;

 private:
  explicit Kernels(Module module) : module_(std::move(module)) {}
  [[nodiscard]] Status launch(FunctionHandle function, std::uint64_t range_count,
                              std::uint64_t piece_count_max, void* table,
                              StreamHandle stream) const;

  Module module_;
  FunctionHandle fill_ = nullptr;
  FunctionHandle change_ = nullptr;
};

}  // namespace xtts::cuda
