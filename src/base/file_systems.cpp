#include "base/file_systems.hpp"

#include <algorithm>
#include <array>

namespace xtts {
namespace {

constexpr auto kMemory = FileSystemKind::kMemory;
constexpr auto kDisk = FileSystemKind::kDisk;
constexpr auto kNetwork = FileSystemKind::kNetwork;
constexpr auto kProgram = FileSystemKind::kProgram;

constexpr std::array kFileSystems = {
    FileSystem{0xEF53, kDisk, "ext4"},           FileSystem{0x58465342, kDisk, "XFS"},
    FileSystem{0x9123683E, kDisk, "Btrfs"},      FileSystem{0x01021994, kMemory, "tmpfs"},
    FileSystem{0x858458F6, kMemory, "ramfs"},    FileSystem{0xF2F52010, kDisk, "F2FS"},
    FileSystem{0x2FC12FC1, kDisk, "ZFS"},        FileSystem{0xCA451A4E, kDisk, "bcachefs"},
    FileSystem{0x794C7630, kDisk, "overlayfs"},  FileSystem{0x52654973, kDisk, "ReiserFS"},
    FileSystem{0x3153464A, kDisk, "JFS"},        FileSystem{0x3434, kDisk, "NILFS"},
    FileSystem{0x2011BAB0, kDisk, "exFAT"},      FileSystem{0x4D44, kDisk, "FAT"},
    FileSystem{0x5346544E, kDisk, "NTFS"},       FileSystem{0x7366746E, kDisk, "NTFS"},
    FileSystem{0x482B, kDisk, "HFS+"},           FileSystem{0x24051905, kDisk, "UBIFS"},
    FileSystem{0x6969, kNetwork, "NFS"},         FileSystem{0xFF534D42, kNetwork, "SMB"},
    FileSystem{0xFE534D42, kNetwork, "SMB"},     FileSystem{0x517B, kNetwork, "SMB"},
    FileSystem{0x65735546, kProgram, "FUSE"},    FileSystem{0x01021997, kNetwork, "9p"},
    FileSystem{0x00C36400, kNetwork, "Ceph"},    FileSystem{0x0BD00BD0, kNetwork, "Lustre"},
    FileSystem{0x47504653, kNetwork, "GPFS"},    FileSystem{0x19830326, kNetwork, "BeeGFS"},
    FileSystem{0x6B414653, kNetwork, "AFS"},     FileSystem{0x5346414F, kNetwork, "AFS"},
    FileSystem{0x7461636F, kNetwork, "OCFS2"},   FileSystem{0x01161970, kNetwork, "GFS2"},
    FileSystem{0x786F4256, kNetwork, "vboxsf"},  FileSystem{0xBACBACBC, kNetwork, "vmhgfs"},
    FileSystem{0xAAD7AAEA, kNetwork, "Panasas"}, FileSystem{0x20030528, kNetwork, "OrangeFS"},
};

}  // namespace

const FileSystem* find_file_system(std::uint32_t type) noexcept {
  const auto* const found = std::ranges::find(kFileSystems, type, &FileSystem::type);
  return found == kFileSystems.end() ? nullptr : found;
}

}  // namespace xtts
