// Module: embedded kernels, loaded into a GPU's context. Move-only.
//
// Immutable; any number of threads. Failures: kUnsupported (this build has no kernels for this GPU
// and driver), and Context's.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda/owned.hpp"

namespace xtts::cuda {

// Kernels as CMake embeds them. The driver compiles PTX.
struct KernelImages {
  const std::byte* compiled = nullptr;  // PTX where there was no compiler
  const std::byte* ptx = nullptr;       // for GPUs and drivers that do not take `compiled`
};

class Module {
 public:
  [[nodiscard]] static Result<Module> load(std::shared_ptr<const Context> context,
                                           const KernelImages& images);

  [[nodiscard]] const std::shared_ptr<const Context>& context() const noexcept {
    return module_.context();
  }
  [[nodiscard]] Result<FunctionHandle> find(const char* kernel) const;

 private:
  using Handle = Owned<ModuleHandle, &DriverCalls::unload_module>;
  explicit Module(Handle module) noexcept : module_(std::move(module)) {}

  Handle module_;
};

}  // namespace xtts::cuda
