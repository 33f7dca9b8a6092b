// Module: embedded kernels, loaded into a GPU's context. Move-only.
//
// Immutable; any number of threads. Failures: kUnsupported (this build has no kernels, or none for
// this GPU and driver), and Context's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cuda/owned.hpp"

namespace xtts::cuda {

class Module {
 public:
  // `image` is what CMake embedded; empty in a build without NVIDIA's compiler.
  [[nodiscard]] static Result<Module> load(std::shared_ptr<const Context> context,
                                           std::span<const std::byte> image);

  [[nodiscard]] const std::shared_ptr<const Context>& context() const noexcept {
    return module_.context();
  }
  [[nodiscard]] Result<FunctionHandle> find(const char* kernel) const;

 private:
  using Handle = Owned<ModuleHandle, &DriverCalls::unload_module>;
  explicit Module(Handle module) noexcept : module_(std::move(module)) {}

  Handle module_;
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
