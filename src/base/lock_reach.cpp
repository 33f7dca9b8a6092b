#include "base/lock_reach.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

namespace xtts {
namespace {

struct FileSystem {
  std::uint32_t type = 0;  // statfs(2): f_type
  std::string_view name = {};
};

// Disks and memory of this machine: its kernel knows of every lock that is taken on it. What is not
// named here may be shared with machines whose locks it does not know.
constexpr std::array kLocal = {
    FileSystem{0xEF53, "ext4"},          FileSystem{0x58465342, "XFS"},
    FileSystem{0x9123683E, "Btrfs"},     FileSystem{0x01021994, "tmpfs"},
    FileSystem{0x858458F6, "ramfs"},     FileSystem{0xF2F52010, "F2FS"},
    FileSystem{0x2FC12FC1, "ZFS"},       FileSystem{0xCA451A4E, "bcachefs"},
    FileSystem{0x794C7630, "overlayfs"}, FileSystem{0x52654973, "ReiserFS"},
    FileSystem{0x3153464A, "JFS"},       FileSystem{0x3434, "NILFS"},
    FileSystem{0x2011BAB0, "exFAT"},     FileSystem{0x4D44, "FAT"},
    FileSystem{0x5346544E, "NTFS"},      FileSystem{0x7366746E, "NTFS"},
    FileSystem{0x482B, "HFS+"},          FileSystem{0x24051905, "UBIFS"},
};

constexpr std::array kShared = {
    FileSystem{0x6969, "NFS"},         FileSystem{0xFF534D42, "SMB"},
    FileSystem{0xFE534D42, "SMB"},     FileSystem{0x517B, "SMB"},
    FileSystem{0x65735546, "FUSE"},    FileSystem{0x01021997, "9p"},
    FileSystem{0x00C36400, "Ceph"},    FileSystem{0x0BD00BD0, "Lustre"},
    FileSystem{0x47504653, "GPFS"},    FileSystem{0x19830326, "BeeGFS"},
    FileSystem{0x6B414653, "AFS"},     FileSystem{0x5346414F, "AFS"},
    FileSystem{0x7461636F, "OCFS2"},   FileSystem{0x01161970, "GFS2"},
    FileSystem{0x786F4256, "vboxsf"},  FileSystem{0xBACBACBC, "vmhgfs"},
    FileSystem{0xAAD7AAEA, "Panasas"}, FileSystem{0x20030528, "OrangeFS"},
};

const FileSystem* find_type(std::span<const FileSystem> systems, std::uint32_t type) {
  const auto found = std::ranges::find(systems, type, &FileSystem::type);
  return found == systems.end() ? nullptr : &*found;
}

// Another number at each start of the kernel, the same in all its containers. Empty where it is not
// told.
std::string boot_number() {
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 64> text{};
  const ssize_t got = ::read(fd, text.data(), text.size());
  ::close(fd);
  const std::string_view all(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(all.substr(0, all.find('\n')));
}

}  // namespace

Result<LockReach> real_lock_reach(const std::string& folder) {
  struct statfs system {};
  struct stat info {};
  if (::statfs(folder.c_str(), &system) != 0 || ::stat(folder.c_str(), &info) != 0) {
    const StatusCode code = errno == ENOENT ? StatusCode::kNotFound : StatusCode::kResource;
    return Status(code, "examining the file system of " + folder + ": " +
                            std::generic_category().message(errno));
  }
  const auto type = static_cast<std::uint32_t>(system.f_type);
  LockReach reach;
  reach.everyone = find_type(kLocal, type) != nullptr;
  if (!reach.everyone) {
    const FileSystem* const known = find_type(kShared, type);
    reach.file_system = known != nullptr ? std::string(known->name) : "of a kind unknown here";
  }
  // Two mounts of one server may keep their locks apart, so the mount counts as well.
  const std::string boot = boot_number();
  if (!boot.empty()) reach.circle = boot + "/" + std::to_string(info.st_dev);
  return reach;
}

}  // namespace xtts
