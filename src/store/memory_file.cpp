#include "store/memory_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/try.hpp"

namespace xtts::store {
namespace {

Status refused(const char* what) {
  return {StatusCode::kResource, std::string("making a shard image: ") + what + ": " +
                                     std::generic_category().message(errno)};
}

}  // namespace

Result<MemoryFile> MemoryFile::create() {
  const int fd = ::memfd_create("xtts-shard", MFD_CLOEXEC);
  if (fd < 0) return refused("a file in memory (memfd_create)");
  return MemoryFile(fd);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)) {}

MemoryFile::~MemoryFile() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
  if (fd_ >= 0) ::close(fd_);
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(fd_);
}

Result<std::uint64_t> MemoryFile::size_bytes() const {
  struct stat facts {};
  if (::fstat(fd_, &facts) != 0) return refused("the size of the file in memory");
  return static_cast<std::uint64_t>(facts.st_size);
}

Status MemoryFile::cut(std::uint64_t size_bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(size_bytes)) == 0) return {};
  return refused("cutting the file in memory");
}

Result<std::span<const std::byte>> MemoryFile::map() {
  XTTS_ASSIGN(const std::uint64_t size, size_bytes());
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
  if (mapping == MAP_FAILED) return refused("mapping the file in memory");
  mapping_ = mapping;
  mapping_bytes_ = size;
  return std::span<const std::byte>(static_cast<const std::byte*>(mapping), size);
}

}  // namespace xtts::store
