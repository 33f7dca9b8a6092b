#include "cuda/module.hpp"

#include <utility>

#include "base/formatted.hpp"

namespace xtts::cuda {

Result<Module> Module::load(std::shared_ptr<const Context> context, const KernelImages& images) {
  const Context& on = *context;
  ModuleHandle handle = nullptr;
  CallResult result = kSuccess;
  const auto load = [&](const std::byte* image) {
    return on.run("loading kernels into " + on.label(), [&](const DriverCalls& calls) {
      return result = calls.load_module(&handle, image);
    });
  };
  Status loaded = load(images.compiled);
  // In a build without a toolkit, the two are one.
  if (!loaded.ok() && images.ptx != images.compiled) loaded = load(images.ptx);
  if (result == kNoPtxCompiler || result == kPtxCompilerIsOff) {
    return Status(StatusCode::kUnsupported,
                  loaded.message() +
                      ". The driver's compiler of PTX is missing (install all of the "
                      "driver: libnvidia-ptxjitcompiler.so.1), or "
                      "CUDA_DISABLE_PTX_JIT switches it off");
  }
  if (result == kInvalidImage || result == kNoBinaryForGpu || result == kInvalidPtx ||
      result == kUnsupportedPtx) {
    return Status(StatusCode::kUnsupported,
                  formatted("{}. {} does not take this build's kernels: install a newer driver, or "
                            "take the device 'cpu'",
                            loaded.message(), on.gpu_name()));
  }
  XTTS_TRY(loaded);
  return Module({std::move(context), handle});
}

Result<FunctionHandle> Module::find(const char* kernel) const {
  FunctionHandle function = nullptr;
  XTTS_TRY(
      context()->run("finding a kernel on " + context()->label(), [&](const DriverCalls& calls) {
        return calls.find_function(&function, module_.handle(), kernel);
      }));
  return function;
}

}  // namespace xtts::cuda
