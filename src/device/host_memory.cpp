#include "device/host_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "base/checked.hpp"

namespace xtts::device {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;

}  // namespace

Result<HostMemory> HostMemory::allocate(std::size_t size_bytes) {
  const bool is_large = size_bytes >= kHugePageBytes;
  // Huge pages begin at multiples of their size; mappings need not.
  const std::size_t mapping_bytes = size_bytes + (is_large ? kHugePageBytes : 0);
  void* const mapping =
      ::mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return Status(StatusCode::kResource, "allocating a batch slot of " +
                                             std::to_string(size_bytes) +
                                             " bytes: " + std::generic_category().message(errno));
  }
  auto* first = static_cast<std::byte*>(mapping);
  std::size_t skipped_bytes = 0;
  if (is_large) {
    const auto address = reinterpret_cast<std::uintptr_t>(first);
    skipped_bytes = align_up<std::uintptr_t>(address, kHugePageBytes) - address;
    (void)::madvise(first + skipped_bytes, size_bytes, MADV_HUGEPAGE);  // advice only
  }
  return HostMemory(first, mapping_bytes, {first + skipped_bytes, size_bytes});
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)),
      bytes_(std::exchange(other.bytes_, {})) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostMemory::~HostMemory() {
  if (mapping_ != nullptr) (void)::munmap(mapping_, mapping_bytes_);
}

bool HostMemory::lock() noexcept {
  return ::mlock(bytes_.data(), bytes_.size()) == 0;
}

}  // namespace xtts::device
