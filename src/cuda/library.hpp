// Libraries of NVIDIA's toolkit (cuFFT, cuFile), opened at run time. pip and conda put them where
// the system's loader does not look, so an environment variable can name folders.
//
// Any number of threads.
#pragma once

#include <dlfcn.h>

#include <span>

#include "xtts/status.hpp"

namespace xtts::cuda {

// Opens the first of these libraries that is there: in the folders of the environment variable
// `setting` ("/a:/b"), else where the system's loader looks. It is never closed: it has memory and
// threads of its own. kUnsupported: why none was opened.
[[nodiscard]] Result<void*> open_library(std::span<const char* const> names, const char* setting);

// False: the library lacks the call.
template <typename Call>
[[nodiscard]] bool find_call(void* library, const char* symbol, Call& call) noexcept {
  call = reinterpret_cast<Call>(::dlsym(library, symbol));
  return call != nullptr;
}

}  // namespace xtts::cuda
