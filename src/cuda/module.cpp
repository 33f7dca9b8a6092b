#include "cuda/module.hpp"

#include <string>
#include <utility>

namespace xtts::cuda {
namespace {

// True where the image is not for this GPU, or the driver is too old for it.
bool is_misfit(CallResult result) {
  return result == kInvalidImage || result == kNoBinaryForGpu || result == kInvalidPtx ||
         result == kUnsupportedPtx;
}

}  // namespace

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
  if (is_misfit(result)) loaded = load(images.ptx);
  if (is_misfit(result)) {
    return Status(StatusCode::kUnsupported, loaded.message() + ". " + on.gpu_name() +
                                                " needs a newer driver, or a build with another "
                                                "CUDA toolkit");
  }
  if (result == kNoPtxCompiler || result == kPtxCompilerIsOff) {
    return Status(StatusCode::kUnsupported,
                  loaded.message() + ". The driver's compiler of PTX is missing or switched off: " +
                      "install all of the driver (libnvidia-ptxjitcompiler.so.1), or build this "
                      "program where the CUDA toolkit (12 or 13) is installed");
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
