#include "cuda/module.hpp"

#include <atomic>
#include <string>
#include <utility>

namespace xtts::cuda {
namespace {

std::atomic<const std::span<const std::byte>*> image_of_tests = nullptr;

}  // namespace

KernelsForTests::KernelsForTests(std::span<const std::byte> image) noexcept {
  static std::span<const std::byte> kept;
  kept = image;
  image_of_tests = &kept;
}

KernelsForTests::~KernelsForTests() {
  image_of_tests = nullptr;
}

Result<Module> Module::load(std::shared_ptr<const Context> context,
                            std::span<const std::byte> image) {
  if (const auto* const given = image_of_tests.load(); given != nullptr) image = *given;
  if (image.empty()) {
    return Status(StatusCode::kUnsupported,
                  "this build has no CUDA kernels, because CMake found no nvcc that compiles them: "
                  "install the CUDA toolkit (12 or 13) and build again, or take the device 'cpu'");
  }
  const Context& on = *context;
  ModuleHandle handle = nullptr;
  CallResult result = kSuccess;
  const Status loaded = on.run("loading kernels into " + on.label(), [&](const DriverCalls& calls) {
    return result = calls.load_module(&handle, image.data());
  });
  if (result == kInvalidImage || result == kNoBinaryForGpu || result == kUnsupportedPtx) {
    return Status(StatusCode::kUnsupported,
                  loaded.message() + ". " + on.gpu_name() +
                      " needs a newer driver, or a build with another CUDA toolkit");
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
