#include "store/image_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/checked.hpp"
#include "base/formatted.hpp"

namespace xtts::store {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
constexpr std::size_t kStepBytes = std::size_t{16} << 20U;

Status refused(std::size_t size_bytes) {
  return {StatusCode::kResource,
          formatted("making a shard image: {} MiB of memory: {}", size_bytes >> 20U,
                    std::generic_category().message(errno))};
}

}  // namespace

Result<ImageMemory> ImageMemory::reserve(std::size_t size_bytes_max) {
  const std::size_t mapping_bytes = size_bytes_max + kHugePageBytes;
  // PROT_NONE: no limit on memory counts it before grow_to() opens it.
  Mapping mapping(
      ::mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
      mapping_bytes);
  if (!mapping) return refused(mapping_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(mapping.bytes().data());
  const auto room = mapping.bytes().subspan(
      align_up<std::uintptr_t>(address, kHugePageBytes) - address, size_bytes_max);
  // Advice only: without huge pages everything works, slower.
  (void)::madvise(room.data(), room.size(), MADV_HUGEPAGE);
  return ImageMemory(std::move(mapping), room);
}

Status ImageMemory::grow_to(std::size_t size_bytes) {
  if (size_bytes <= usable_bytes_) return {};
  if (size_bytes > room_.size()) {
    return {StatusCode::kResource, "making a shard image: it is full"};
  }
  const std::size_t wanted = std::min(align_up(size_bytes, kStepBytes), room_.size());
  if (::mprotect(room_.data(), wanted, PROT_READ | PROT_WRITE) != 0) return refused(wanted);
  usable_bytes_ = wanted;
  return {};
}

}  // namespace xtts::store
