// Modules and launches.
#include <cstring>
#include <string_view>
#include <utility>

#include "support/cuda_driver/added_kernels.hpp"
#include "support/cuda_driver/entry_points.hpp"
#include "support/cuda_driver/fake_kernels.hpp"

namespace xtts::testing::fake_cuda {
namespace {

constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

bool is_fatbin(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  return magic == kFatbinMagic;
}

Work make_work(FakeDriver& now, KernelKind kind, const Launch& launch, const void* table) {
  if (kind == KernelKind::kFill) {
    return make_fill(now, launch, *static_cast<const FillTable*>(table));
  }
  return make_change(now, launch, *static_cast<const ChangeTable*>(table));
}

bool begins_with(const void* image, std::string_view beginning) {
  return ::strncmp(static_cast<const char*>(image), beginning.data(), beginning.size()) == 0;
}

std::shared_ptr<Module> find_module(FakeDriver& now, ModuleHandle handle) {
  auto found = now.modules.find(reinterpret_cast<std::uint64_t>(handle));
  if (found == nullptr) now.refuse(kInvalidHandle, "there never was such a module");
  if (!found->is_alive) now.refuse(kInvalidHandle, found->name + " was unloaded");
  now.check_is_current(*found);
  return found;
}

}  // namespace

extern "C" {

CallResult cuModuleLoadData(ModuleHandle* module, const void* image) {
  return make_call("cuModuleLoadData", [&](FakeDriver& now, auto&) {
    auto made = std::make_shared<Module>();
    made->context = now.current();
    if (begins_with(image, "//")) {
      made->ptx = static_cast<const char*>(image);
    } else if (!is_fatbin(image) && !begins_with(image, kTestImage)) {
      now.refuse(kInvalidImage, "the image is neither PTX nor has it a fatbin's magic number");
    }
    *module = as_handle<ModuleHandle>(now.modules.add(made));
  });
}

CallResult cuModuleUnload(ModuleHandle module) {
  return make_call("cuModuleUnload", [&](FakeDriver& now, auto&) {
    const auto found = find_module(now, module);
    now.check_no_open_launch(*found);
    found->is_alive = false;
  });
}

CallResult cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  return make_call("cuModuleGetFunction", [&](FakeDriver& now, auto&) {
    auto made = std::make_shared<Function>();
    made->module = find_module(now, module);
    made->context = made->module->context;
    const std::string_view wanted = name;
    if (!made->module->has_kernel(name)) throw Refusal{kNotFound};
    if (wanted == kFillKernel) {
      made->kind = KernelKind::kFill;
    } else if (wanted == kChangeKernel) {
      made->kind = KernelKind::kChange;
    } else if (has_added_kernel(name)) {
      made->kind = KernelKind::kAdded;
      made->kernel_name = name;
    } else {
      throw Refusal{kNotFound};
    }
    *function = as_handle<FunctionHandle>(now.functions.add(made));
  });
}

CallResult cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, StreamHandle stream, void** parameters,
                          void** extra) {
  return make_call("cuLaunchKernel", [&](FakeDriver& now, auto&) {
    const auto launched = now.functions.find(reinterpret_cast<std::uint64_t>(function));
    if (launched == nullptr) now.refuse(kInvalidHandle, "there never was such a function");
    if (!launched->module->is_alive) {
      now.refuse(kInvalidHandle,
                 launched->name + " is gone: " + launched->module->name + " was unloaded");
    }
    now.check_is_current(*launched);
    const StreamPointer on = now.stream(stream);
    now.check_is_current(*on);
    if (parameters == nullptr || extra != nullptr || shared_bytes != 0) {
      now.refuse(kInvalidValue, "the kernels take one table, and no shared memory");
    }
    if (launched->kind == KernelKind::kAdded) {
      const KernelLaunch added{.grid = {grid_x, grid_y, grid_z},
                               .block = {block_x, block_y, block_z},
                               .parameters = parameters};
      const TaskPointer task = now.enqueue(*on, make_added(now, launched->kernel_name, added));
      now.note_launch(*launched->module, task);
      return;
    }
    const Launch launch{.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    Work work = make_work(now, launched->kind, launch, parameters[0]);
    now.note_launch(*launched->module, now.enqueue(*on, std::move(work)));
  });
}

}  // extern "C"
}  // namespace xtts::testing::fake_cuda
