#include "base/lock_reach.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdint>

#include "base/file_systems.hpp"
#include "base/system_call.hpp"

namespace xtts {
namespace {

// Another number at each start of the kernel, the same in all its containers. Empty where it is not
// told.
std::string boot_number() {
  const std::string text = read_kernel_text("/proc/sys/kernel/random/boot_id");
  return text.substr(0, text.find('\n'));
}

}  // namespace

bool may_take_turns(int fd) noexcept {
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0) return false;
  const FileSystem* const known = find_file_system(static_cast<std::uint32_t>(system.f_type));
  return known != nullptr && known->kind != FileSystemKind::kNetwork;
}

Result<LockReach> real_lock_reach(const std::string& folder) {
  struct statfs system {};
  struct stat info {};
  if (::statfs(folder.c_str(), &system) != 0 || ::stat(folder.c_str(), &info) != 0)
    return system_failure("examining the file system of", folder, errno);
  const auto type = static_cast<std::uint32_t>(system.f_type);
  LockReach reach;
  // The kernel of a machine knows of every lock on its own disks and memory. What we do not know
  // may be shared with machines whose locks it does not know.
  const FileSystem* const known = find_file_system(type);
  reach.everyone = known != nullptr &&
                   (known->kind == FileSystemKind::kDisk || known->kind == FileSystemKind::kMemory);
  if (!reach.everyone) {
    reach.file_system = known != nullptr ? std::string(known->name) : "of a kind unknown here";
  }
  // Two mounts of one server may keep their locks apart, so the mount counts as well.
  const std::string boot = boot_number();
  if (!boot.empty()) reach.circle = boot + "/" + std::to_string(info.st_dev);
  return reach;
}

}  // namespace xtts
