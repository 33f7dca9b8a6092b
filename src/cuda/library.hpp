// NVIDIA's libraries (the driver, NVML, cuFFT), opened at run time. pip and conda put those
// of the toolkit where the system's loader does not look, so an environment variable can name
// folders.
//
// Any number of threads.
#pragma once

#include <dlfcn.h>

#include <span>

#include "xtts/status.hpp"

namespace xtts::cuda {

// Opens one of these libraries: the first that is in the first folder of the environment variable
// `setting` ("/a:/b") that has one, else the first where the system's loader looks. It is never
// closed: it has memory and threads of its own. kUnsupported: why none was opened.
[[nodiscard]] Result<void*> open_library(std::span<const char* const> names,
                                         const char* setting = nullptr);

// False: the library lacks the call.
template <typename Call>
[[nodiscard]] bool find_call(void* library, const char* symbol, Call& call) noexcept {
  call = reinterpret_cast<Call>(::dlsym(library, symbol));
  return call != nullptr;
}

}  // namespace xtts::cuda
