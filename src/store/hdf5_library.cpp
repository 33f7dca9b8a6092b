#include "store/hdf5_library.hpp"

#include <dlfcn.h>

#include <mutex>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::store {
namespace {

Status cannot_load() {
  const char* const why = ::dlerror();
  return {StatusCode::kUnsupported,
          formatted("HDF5's library cannot be loaded: {}: install it again, or use the store lmdb",
                    why == nullptr ? "no reason given" : why)};
}

template <typename T>
Status find(void* library, const char* name, T& place) {
  place = reinterpret_cast<T>(::dlsym(library, name));
  return place == nullptr ? cannot_load() : Status();
}

Result<Hdf5Library> load() {
  // Tries the system's search path first, then the path of this build.
  void* library = ::dlopen(XTTS_HDF5_NAME, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const Status why_not = cannot_load();
    library = ::dlopen(XTTS_HDF5_FILE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return why_not;
  }
  Hdf5Library found;
#define XTTS_FIND(name) XTTS_TRY(find(library, #name, found.name));
  XTTS_HDF5_FUNCTIONS(XTTS_FIND)
  XTTS_HDF5_IDS(XTTS_FIND)
#undef XTTS_FIND
  if (found.H5open() < 0) {
    return Status(StatusCode::kResource, "HDF5's library does not start: out of memory?");
  }
  return found;
}

std::mutex mutex;
Hdf5Library loaded;

}  // namespace

Status load_hdf5() {
  const std::lock_guard lock(mutex);
  if (loaded.H5open != nullptr) return {};
  XTTS_ASSIGN(loaded, load());
  return {};
}

const Hdf5Library& hdf5() noexcept {
  return loaded;
}

}  // namespace xtts::store
