// Facts about a path's storage: its kind, how far locks reach, and how much memory there is for
// its pages (Linux). They come from files in /sys and /proc. The parsers are pure; functions that
// begin with real_ read those files. The system's word about a disk is only a hint: the disks of
// many virtual machines call themselves rotating, so we do not believe those. Failures: kNotFound
// (no such path), kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "base/file_systems.hpp"
#include "xtts/status.hpp"

namespace xtts {

[[nodiscard]] Result<StorageFacts> real_storage(const std::string& path);
// How far the system's locks in a folder reach.
[[nodiscard]] Result<LockScope> real_lock_scope(const std::string& folder);
// True where readers of this open file may take turns by a lock on it (RandomAccessFile::try_lock):
// only where its locks stay in this machine, so that no machine waits for another. For FUSE the
// kernel keeps the locks, unless the file system asks for them, which few do.
[[nodiscard]] bool has_local_locks(int fd) noexcept;
[[nodiscard]] Result<std::uint64_t> real_available_memory_bytes();

// `system`: null if unknown. `rotational`: what the disk's queue reports, if it has one.
[[nodiscard]] StorageKind storage_kind(const FileSystem* system, std::string_view device,
                                       std::optional<bool> rotational) noexcept;
// "1\n" or "0\n".
[[nodiscard]] std::optional<bool> parse_rotational(std::string_view text) noexcept;
// "SSD", "storage of unknown kind".
[[nodiscard]] std::string_view words_of(StorageKind kind) noexcept;
// Finds, in /proc/self/mountinfo, the source ("/dev/sda1") of the file system with the kernel's
// number "major:minor". File systems over several disks (Btrfs, ZFS) have numbers of their own,
// which lead to no disk.
[[nodiscard]] std::optional<std::string> find_mount_source(std::string_view mountinfo,
                                                           std::string_view number);
// /proc/meminfo: MemAvailable.
[[nodiscard]] std::optional<std::uint64_t> parse_available_memory_bytes(std::string_view meminfo);
// Parses a control group's limit, "max" or a number; nullopt: no limit.
[[nodiscard]] std::optional<std::uint64_t> parse_memory_limit_bytes(std::string_view text);
// The memory that a group may still use: its limit minus its usage. Pages of files do not count as
// used, because the kernel frees them before it refuses anything. `usage_bytes` has its own file,
// like the limit; `statistics`: the group's memory.stat.
[[nodiscard]] std::uint64_t remaining_memory_bytes(std::uint64_t limit_bytes,
                                                   std::optional<std::uint64_t> usage_bytes,
                                                   std::string_view statistics);
// /proc/self/cgroup: the folder of the group that limits memory, below the mounted tree.
[[nodiscard]] std::optional<std::string> find_memory_group(std::string_view cgroup);
// The group and all groups above it, below the mounted tree: "/a/b", "/a", "". Each may have its
// own limit, and often only one of those above has any.
[[nodiscard]] std::vector<std::string> groups_above(std::string_view group);

}  // namespace xtts
