#include "support/cuda_driver/fake_memory.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/checked.hpp"
#include "base/hash.hpp"

#ifdef __SANITIZE_THREAD__
extern "C" {  // of the sanitizer's library
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace xtts::testing::fake_cuda {
namespace {

constexpr std::size_t kPageSize = 4096;
constexpr std::size_t kHashedBytes = std::size_t{1} << 20U;
constexpr int kUnwritten = 0xEE;

std::byte* page_of(const std::byte* memory) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory) &
                                      ~std::uintptr_t{kPageSize - 1});
}

}  // namespace

ClosedMemory::ClosedMemory(std::size_t size_bytes, std::size_t offset_bytes)
    : offset_bytes_(offset_bytes), size_bytes_(align_up(offset_bytes + size_bytes, kPageSize)) {
  const int fd = ::memfd_create("fake_cuda", MFD_CLOEXEC);
  if (fd < 0) return;
  if (::ftruncate(fd, static_cast<off_t>(size_bytes_)) == 0) {
    void* const shown = ::mmap(nullptr, size_bytes_, PROT_NONE, MAP_SHARED, fd, 0);
    void* const own = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shown != MAP_FAILED) shown_ = shown;
    if (own != MAP_FAILED) own_ = own;
  }
  ::close(fd);
  if (own_ != nullptr) std::memset(own_, kUnwritten, size_bytes_);
}

ClosedMemory::~ClosedMemory() {
  close();
  if (shown_ != nullptr) ::munmap(shown_, size_bytes_);
}

bool ClosedMemory::is_there() const {
  return shown_ != nullptr && own_ != nullptr;
}

void ClosedMemory::close() {
  if (own_ != nullptr) ::munmap(own_, size_bytes_);
  own_ = nullptr;
  if (shown_ == nullptr) return;
  (void)::mmap(shown_, size_bytes_, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

#ifdef __SANITIZE_THREAD__
UnwatchedAccess::UnwatchedAccess() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
UnwatchedAccess::~UnwatchedAccess() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#else
UnwatchedAccess::UnwatchedAccess() = default;
UnwatchedAccess::~UnwatchedAccess() = default;
#endif

// The kernel copies, and says so where memory is not mapped.
bool read_host(const std::byte* from, std::span<std::byte> to) {
  const iovec out{to.data(), to.size()};
  const iovec in{const_cast<std::byte*>(from), to.size()};
  const ssize_t count = ::process_vm_readv(::getpid(), &out, 1, &in, 1, 0);
  if (count < 0 && (errno == ENOSYS || errno == EPERM)) {  // a container that forbids the call
    if (!is_mapped(from, to.size())) return false;
    std::memcpy(to.data(), from, to.size());
    return true;
  }
  return count == static_cast<ssize_t>(to.size());
}

bool write_host(std::byte* to, std::span<const std::byte> from) {
  const iovec in{const_cast<std::byte*>(from.data()), from.size()};
  const iovec out{to, from.size()};
  const ssize_t count = ::process_vm_writev(::getpid(), &in, 1, &out, 1, 0);
  if (count < 0 && (errno == ENOSYS || errno == EPERM)) {
    if (!is_mapped(to, from.size())) return false;
    std::memcpy(to, from.data(), from.size());
    return true;
  }
  return count == static_cast<ssize_t>(from.size());
}

bool is_mapped(const std::byte* memory, std::size_t size_bytes) {
  std::byte* const begin = page_of(memory);
  const auto total = static_cast<std::size_t>(memory - begin) + size_bytes;
  std::vector<unsigned char> pages((total + kPageSize - 1) / kPageSize);
  return ::mincore(begin, total, pages.data()) == 0;
}

std::optional<std::uint64_t> hash_host(const std::byte* memory, std::size_t size_bytes) {
  std::vector<std::byte> some(std::min(size_bytes, kHashedBytes));
  Hasher64 hasher;
  for (std::size_t done = 0; done < size_bytes; done += some.size()) {
    const auto part = std::span(some).first(std::min(some.size(), size_bytes - done));
    if (!read_host(memory + done, part)) return std::nullopt;
    hasher.update(part);
  }
  return hasher.finish();
}

}  // namespace xtts::testing::fake_cuda
