// Module: embedded kernels, loaded into a GPU's context. Move-only.
//
// Immutable; any number of threads. Failures: kUnsupported (this build has no kernels, or none for
// this GPU and driver), and Context's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cuda/context.hpp"

namespace xtts::cuda {

class Module {
 public:
  // `image` is what CMake embedded; empty in a build without NVIDIA's compiler.
  [[nodiscard]] static Result<Module> load(std::shared_ptr<const Context> context,
                                           std::span<const std::byte> image);
  ~Module();
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;

  [[nodiscard]] const std::shared_ptr<const Context>& context() const noexcept { return context_; }
  [[nodiscard]] Result<FunctionHandle> find(const char* kernel) const;

 private:
  Module(std::shared_ptr<const Context> context, ModuleHandle handle) noexcept
      : context_(std::move(context)), handle_(handle) {}

  std::shared_ptr<const Context> context_;
  ModuleHandle handle_ = nullptr;
};

// All modules load this image while this object lives, for builds without a compiler whose tests
// bring a driver of their own. `image` must live as long.
class KernelsForTests {
 public:
  explicit KernelsForTests(std::span<const std::byte> image) noexcept;
  ~KernelsForTests();
  KernelsForTests(const KernelsForTests&) = delete;
  KernelsForTests& operator=(const KernelsForTests&) = delete;
};

}  // namespace xtts::cuda
