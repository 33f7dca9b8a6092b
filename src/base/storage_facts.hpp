// What a path lies on, how far locks reach there, and how much memory there is for its pages
// (Linux): the files in /sys and /proc that tell, and what they mean. The parsers are pure; those
// that begin with real_ read. What the system says of a disk is a hint: the disks of many virtual
// machines call themselves rotating, so of those it is not believed. Failures: kNotFound (no such
// path), kResource.
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
[[nodiscard]] Result<LockReach> real_lock_reach(const std::string& folder);
// Whether readers of this open file may take turns by a lock on it (RandomAccessFile::try_turn):
// where its locks stay in this machine, so that no machine waits for another. Of a FUSE file system
// the kernel keeps them, unless it asks for them itself, which few do.
[[nodiscard]] bool may_take_turns(int fd) noexcept;
[[nodiscard]] Result<std::uint64_t> real_available_memory_bytes();

// `system`: null where it is unknown. `rotational`: what the disk's queue says, where it has one.
[[nodiscard]] StorageKind storage_kind(const FileSystem* system, std::string_view device,
                                       std::optional<bool> rotational) noexcept;
// "1\n" or "0\n".
[[nodiscard]] std::optional<bool> parse_rotational(std::string_view text) noexcept;
// /proc/self/mountinfo: what is mounted where the kernel's number of the file system is
// "major:minor", as "/dev/sda1". File systems of several disks (Btrfs, ZFS) have numbers of their
// own, which lead to no disk.
[[nodiscard]] std::optional<std::string> find_mount_source(std::string_view mountinfo,
                                                           std::string_view number);
// /proc/meminfo: MemAvailable.
[[nodiscard]] std::optional<std::uint64_t> parse_available_memory_bytes(std::string_view meminfo);
// A control group's limit, as "max" or a number; nothing where there is none.
[[nodiscard]] std::optional<std::uint64_t> parse_memory_limit_bytes(std::string_view text);
// What a group may still use: its limit without what it uses already, but for pages of files, which
// are given back before anything else is refused. `usage`: as its limit, in a file of its own;
// `statistics`: its memory.stat.
[[nodiscard]] std::uint64_t left_of_limit(std::uint64_t limit_bytes,
                                          std::optional<std::uint64_t> usage_bytes,
                                          std::string_view statistics);
// /proc/self/cgroup: the folder of the group that limits memory, below the mounted tree.
[[nodiscard]] std::optional<std::string> find_memory_group(std::string_view cgroup);
// The group and all above it, below the mounted tree: "/a/b", "/a", "". Each has a limit of its
// own, and often only one of those above has any.
[[nodiscard]] std::vector<std::string> groups_above(std::string_view group);

}  // namespace xtts
