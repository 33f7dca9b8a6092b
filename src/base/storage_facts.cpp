#include "base/storage_facts.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/formatted.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

std::string number_of(dev_t device) {
  return formatted("{}:{}", major(device), minor(device));
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  return number;
}

// "name number" lines.
std::optional<std::uint64_t> find_number(std::string_view lines, std::string_view name) {
  while (!lines.empty()) {
    std::string_view line = next_line(lines);
    if (next_word(line) == name) return parse_number(next_word(line));
  }
  return std::nullopt;
}

// The file names in the two versions of control groups.
struct LimitFiles {
  const char* limit;
  const char* usage;
};
constexpr std::array kLimitFiles = {
    LimitFiles{"/memory.max", "/memory.current"},
    LimitFiles{"/memory.limit_in_bytes", "/memory.usage_in_bytes"},
};

// The number of the disk below a file system. The file system may have a number of its own.
std::string disk_number(dev_t of_path) {
  if (major(of_path) != 0) return number_of(of_path);
  const auto source =
      find_mount_source(read_kernel_text("/proc/self/mountinfo"), number_of(of_path));
  struct stat info {};
  if (source && ::stat(source->c_str(), &info) == 0 && S_ISBLK(info.st_mode)) {
    return number_of(info.st_rdev);
  }
  return {};
}

// The storage below a path.
struct PathStorage {
  const FileSystem* system = nullptr;  // null where it is unknown
  dev_t device = 0;
};

Result<PathStorage> storage_of(const std::string& path) {
  struct statfs system {};
  struct stat info {};
  if (::statfs(path.c_str(), &system) != 0 || ::stat(path.c_str(), &info) != 0)
    return system_failure("examining the file system of", path, errno);
  return PathStorage{find_file_system(static_cast<std::uint32_t>(system.f_type)), info.st_dev};
}

}  // namespace

std::optional<bool> parse_rotational(std::string_view text) noexcept {
  if (text.starts_with('0')) return false;
  if (text.starts_with('1')) return true;
  return std::nullopt;
}

std::optional<std::string> find_mount_source(std::string_view mountinfo, std::string_view number) {
  while (!mountinfo.empty()) {
    std::string_view line = next_line(mountinfo);
    const std::string_view whole = line;
    (void)next_word(line);  // the mount's own number
    (void)next_word(line);  // its parent's
    if (next_word(line) != number) continue;
    // Optional fields end at a dash; then the kind of file system, and what is mounted.
    const std::size_t dash = whole.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view rest = whole.substr(dash + 3);
    (void)next_word(rest);
    return std::string(next_word(rest));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_available_memory_bytes(std::string_view meminfo) {
  const auto kib = find_number(meminfo, "MemAvailable:");
  if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
  return *kib * 1024;
}

std::optional<std::uint64_t> parse_memory_limit_bytes(std::string_view text) {
  return parse_number(next_word(text));
}

std::uint64_t remaining_memory_bytes(std::uint64_t limit_bytes,
                                     std::optional<std::uint64_t> usage_bytes,
                                     std::string_view statistics) {
  const auto number = [&](std::string_view version1, std::string_view version2) {
    const auto found = find_number(statistics, version1);
    return (found ? found : find_number(statistics, version2)).value_or(0);
  };
  // Both versions count shared memory as files, which it is not, so we subtract it.
  const std::uint64_t shared = number("total_shmem", "shmem");
  const std::uint64_t files = number("total_cache", "file");
  const std::uint64_t usage = usage_bytes.value_or(0);
  const std::uint64_t kept = usage - std::min(usage, files - std::min(files, shared));
  return limit_bytes - std::min(limit_bytes, kept);
}

std::optional<std::string> find_memory_group(std::string_view cgroup) {
  // "0::/path" is the only tree of version 2, "9:memory:/path" that of version 1, which wins.
  std::optional<std::string> found;
  while (!cgroup.empty()) {
    const std::string_view line = next_line(cgroup);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view parts = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (parts.empty() && !found) found = path;
    if (parts == "memory") found = "/memory" + path;
  }
  return found;
}

std::vector<std::string> groups_above(std::string_view group) {
  std::vector<std::string> groups;
  while (!group.empty()) {
    if (!group.ends_with('/')) groups.emplace_back(group);
    group = group.substr(0, std::min(group.rfind('/'), group.size()));
  }
  groups.emplace_back();
  return groups;
}

std::string_view words_of(StorageKind kind) noexcept {
  switch (kind) {
    case StorageKind::kMemory:
      return "memory";
    case StorageKind::kSsd:
      return "SSD";
    case StorageKind::kRotating:
      return "rotating disk";
    case StorageKind::kNetwork:
      return "network";
    case StorageKind::kUnknown:
      break;
  }
  return "storage of unknown kind";
}

StorageKind storage_kind(const FileSystem* system, std::string_view device,
                         std::optional<bool> rotational) noexcept {
  if (system == nullptr || system->kind == FileSystemKind::kProgram) return StorageKind::kUnknown;
  if (system->kind == FileSystemKind::kMemory) return StorageKind::kMemory;
  if (system->kind == FileSystemKind::kNetwork) return StorageKind::kNetwork;
  if (!rotational) return StorageKind::kUnknown;
  if (!*rotational) return StorageKind::kSsd;
  const bool is_virtual = device.starts_with("vd") || device.starts_with("xvd");
  return is_virtual ? StorageKind::kUnknown : StorageKind::kRotating;
}

bool has_local_locks(int fd) noexcept {
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0) return false;
  const FileSystem* const known = find_file_system(static_cast<std::uint32_t>(system.f_type));
  return known != nullptr && known->kind != FileSystemKind::kNetwork;
}

Result<LockScope> real_lock_scope(const std::string& folder) {
  XTTS_ASSIGN(const PathStorage storage, storage_of(folder));
  LockScope scope;
  // A machine's kernel knows every lock on its own disks and memory. An unknown file system may be
  // shared with machines whose locks it does not know.
  const FileSystem* const known = storage.system;
  scope.covers_all = known != nullptr && (known->kind == FileSystemKind::kDisk ||
                                          known->kind == FileSystemKind::kMemory);
  if (!scope.covers_all) {
    scope.file_system = known != nullptr ? std::string(known->name) : "of a kind unknown here";
  }
  // boot_id changes at each start of the kernel and is the same in all its containers. Two mounts
  // of one server may keep their locks apart, so the mount counts as well.
  const std::string boot = read_kernel_text("/proc/sys/kernel/random/boot_id");
  if (!boot.empty())
    scope.domain = formatted("{}/{}", boot.substr(0, boot.find('\n')), storage.device);
  return scope;
}

Result<StorageFacts> real_storage(const std::string& path) {
  XTTS_ASSIGN(const PathStorage storage, storage_of(path));
  StorageFacts facts;
  if (storage.system != nullptr) facts.file_system = storage.system->name;
  std::optional<bool> rotational;
  if (const std::string number = disk_number(storage.device); !number.empty()) {
    const std::string folder = "/sys/dev/block/" + number;
    if (const auto target = resolved_path(folder)) facts.device = std::string(file_name(*target));
    // A partition has no queue of its own.
    std::string text = read_kernel_text(folder + "/queue/rotational");
    if (text.empty()) text = read_kernel_text(folder + "/../queue/rotational");
    rotational = parse_rotational(text);
  }
  facts.kind = storage_kind(storage.system, facts.device, rotational);
  return facts;
}

Result<std::uint64_t> real_available_memory_bytes() {
  const auto free = parse_available_memory_bytes(read_kernel_text("/proc/meminfo"));
  if (!free) {
    return Status(StatusCode::kUnsupported, "/proc/meminfo does not tell how much memory is free");
  }
  std::uint64_t bytes = *free;
  // In a container the group's own folder is often mounted as the root of the tree.
  const std::string root = "/sys/fs/cgroup";
  const std::string group = find_memory_group(read_kernel_text("/proc/self/cgroup")).value_or("/");
  std::vector<std::string> folders = {root + "/memory"};
  for (const std::string& one : groups_above(group)) {
    folders.push_back(root + one);
    folders.push_back(formatted("{}/unified{}", root, one));
  }
  for (const std::string& folder : folders) {
    for (const LimitFiles& files : kLimitFiles) {
      const auto limit = parse_memory_limit_bytes(read_kernel_text(folder + files.limit));
      if (!limit) continue;
      const auto usage = parse_memory_limit_bytes(read_kernel_text(folder + files.usage));
      const std::string statistics = read_kernel_text(folder + "/memory.stat");
      bytes = std::min(bytes, remaining_memory_bytes(*limit, usage, statistics));
    }
  }
  return bytes;
}

}  // namespace xtts
