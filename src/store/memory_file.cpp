#include "store/memory_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/formatted.hpp"

namespace xtts::store {
namespace {

Status refused(const char* what) {
  return {StatusCode::kResource,
          formatted("making a shard image: {}: {}", what, std::generic_category().message(errno))};
}

}  // namespace

Result<MemoryFile> MemoryFile::create() {
  Descriptor fd(::memfd_create("xtts-shard", MFD_CLOEXEC));
  if (!fd.is_open()) return refused("a file in memory (memfd_create)");
  return MemoryFile(std::move(fd));
}

std::string MemoryFile::path() const {
  return formatted("/proc/self/fd/{}", fd_.get());
}

Status MemoryFile::cut(std::uint64_t size_bytes) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(size_bytes)) == 0) return {};
  return refused("cutting the file in memory");
}

Result<std::span<const std::byte>> MemoryFile::map() {
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) != 0) return refused("the size of the file in memory");
  const auto size = static_cast<std::size_t>(facts.st_size);
  mapping_ = Mapping(::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_.get(), 0), size);
  if (!mapping_) return refused("mapping the file in memory");
  return std::span<const std::byte>(mapping_.bytes());
}

}  // namespace xtts::store
