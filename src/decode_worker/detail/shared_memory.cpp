#include "decode_worker/detail/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/formatted.hpp"
#include "base/system_call.hpp"

namespace xtts::decode_worker::detail {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status failure(const char* operation) {
  return {StatusCode::kResource, formatted("memory shared with a decoder's worker: {}: {}",
                                           operation, error_words(errno))};
}

}  // namespace

Result<SharedMemory> SharedMemory::make() {
  Descriptor descriptor(::memfd_create("xtts-decode", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor.is_open()) return failure("memfd_create");
  if (::ftruncate(descriptor.get(), static_cast<off_t>(kSharedBytes)) != 0)
    return failure("ftruncate");
  if (::fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) return failure("sealing");
  return map(std::move(descriptor));
}

Result<SharedMemory> SharedMemory::attach(Descriptor descriptor) {
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0) return failure("fstat");
  // A kernel may have added seals of its own (vm.memfd_noexec).
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  if (facts.st_size != static_cast<off_t>(kSharedBytes) || seals < 0 ||
      (seals & kSeals) != kSeals) {
    return Status(StatusCode::kInternal, "this is not the memory that a decoder's worker shares");
  }
  return map(std::move(descriptor));
}

Result<SharedMemory> SharedMemory::map(Descriptor descriptor) {
  Mapping memory(
      ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0),
      kSharedBytes);
  if (!memory) return failure("mmap");
  return SharedMemory(std::move(descriptor), std::move(memory));
}

std::span<float> SharedMemory::buffer(std::size_t index) const noexcept {
  auto* const samples = reinterpret_cast<float*>(memory_.bytes().data() + kWindowBytes);
  return {samples + index * kBufferSamples, kBufferSamples};
}

}  // namespace xtts::decode_worker::detail
