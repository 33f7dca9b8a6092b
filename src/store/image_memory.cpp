#include "store/image_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/checked.hpp"

namespace xtts::store {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
constexpr std::size_t kStepBytes = std::size_t{16} << 20U;

Status refused(std::size_t size_bytes) {
  return {StatusCode::kResource, "making a shard image: " + std::to_string(size_bytes >> 20U) +
                                     " MiB of memory: " + std::generic_category().message(errno)};
}

}  // namespace

Result<ImageMemory> ImageMemory::reserve(std::size_t size_bytes_max) {
  const std::size_t mapping_bytes = size_bytes_max + kHugePageBytes;
  // PROT_NONE: counted by no limit on memory until grow_to() opens it.
  void* mapping =
      ::mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return refused(mapping_bytes);
  auto* first = static_cast<std::byte*>(mapping);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  std::byte* begin = first + (align_up<std::uintptr_t>(address, kHugePageBytes) - address);
  // Advice only: where huge pages are switched off, everything works, slower.
  (void)::madvise(begin, size_bytes_max, MADV_HUGEPAGE);
  return ImageMemory(first, mapping_bytes, begin, size_bytes_max);
}

ImageMemory::ImageMemory(ImageMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)),
      begin_(std::exchange(other.begin_, nullptr)),
      size_bytes_max_(std::exchange(other.size_bytes_max_, 0)),
      usable_bytes_(std::exchange(other.usable_bytes_, 0)) {}

ImageMemory::~ImageMemory() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
}

Status ImageMemory::grow_to(std::size_t size_bytes) {
  if (size_bytes <= usable_bytes_) return {};
  if (size_bytes > size_bytes_max_) {
    return {StatusCode::kResource, "making a shard image: it is full"};
  }
  const std::size_t wanted = std::min(align_up(size_bytes, kStepBytes), size_bytes_max_);
  if (::mprotect(begin_, wanted, PROT_READ | PROT_WRITE) != 0) return refused(wanted);
  usable_bytes_ = wanted;
  return {};
}

}  // namespace xtts::store
