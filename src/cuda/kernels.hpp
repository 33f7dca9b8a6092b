// Kernels: the project's kernels, loaded into a GPU's context. They fill padding, widen half floats
// and normalize (kernels/range_work.hpp).
//
// Immutable; any number of threads, each with its own stream. Failures: kUnsupported (this build
// has no kernels, or none for this GPU and driver), and Context's.
#pragma once

#include <memory>
#include <span>

#include "cuda/context.hpp"
#include "cuda/kernels/range_tables.hpp"

namespace xtts::cuda {

class Kernels {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Kernels>> load(
      std::shared_ptr<const Context> context);
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // Both put work on the stream, and return. The table is copied. A table without ranges is no
  // work.
  [[nodiscard]] Status fill(const FillTable& table, StreamHandle stream) const;
  [[nodiscard]] Status change(const ChangeTable& table, StreamHandle stream) const;

 private:
  explicit Kernels(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  [[nodiscard]] Status launch(FunctionHandle function, std::uint64_t range_count,
                              std::uint64_t piece_count_max, void* table,
                              StreamHandle stream) const;

  std::shared_ptr<const Context> context_;
  ModuleHandle module_ = nullptr;
  FunctionHandle fill_ = nullptr;
  FunctionHandle change_ = nullptr;
};

// The kernels of this build; empty where it was made without NVIDIA's compiler.
[[nodiscard]] std::span<const std::byte> embedded_kernels() noexcept;

// Other kernels while this object lives, for builds without a compiler whose tests bring a driver
// of their own. `image` must live as long.
class KernelsForTests {
 public:
  explicit KernelsForTests(std::span<const std::byte> image) noexcept;
  ~KernelsForTests();
  KernelsForTests(const KernelsForTests&) = delete;
  KernelsForTests& operator=(const KernelsForTests&) = delete;
};

}  // namespace xtts::cuda
