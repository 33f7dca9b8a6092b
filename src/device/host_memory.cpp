#include "device/host_memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "base/checked.hpp"
#include "base/formatted.hpp"

namespace xtts::device {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
constexpr int kPreferNode = 1;  // MPOL_PREFERRED; its header belongs to a library of its own

void prefer_node(std::byte* mapping, std::size_t mapping_bytes, int node) {
  if (node < 0 || node >= 64) return;
  const std::uint64_t nodes = std::uint64_t{1} << static_cast<unsigned>(node);
  // Advice only: memory of another node works, too.
  (void)::syscall(SYS_mbind, mapping, mapping_bytes, kPreferNode, &nodes, 8 * sizeof nodes, 0U);
}

}  // namespace

Result<HostMemory> HostMemory::allocate(std::size_t size_bytes, const Place& place) {
  const bool is_large = size_bytes >= kHugePageBytes;
  // Huge pages begin at multiples of their size; mappings need not.
  const std::size_t mapping_bytes = size_bytes + (is_large ? kHugePageBytes : 0);
  void* const mapping =
      ::mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return Status(StatusCode::kResource,
                  formatted("allocating a batch slot of {} bytes: {}", size_bytes,
                            std::generic_category().message(errno)));
  }
  auto* first = static_cast<std::byte*>(mapping);
  if (place.numa_node) prefer_node(first, mapping_bytes, *place.numa_node);
  if (place.is_kept_from_children && ::madvise(mapping, mapping_bytes, MADV_DONTFORK) != 0) {
    const std::string why = std::generic_category().message(errno);
    (void)::munmap(mapping, mapping_bytes);
    return Status(StatusCode::kResource, "keeping a batch slot from forked children: " + why);
  }
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
