// The known file systems, by number (statfs(2), f_type), and their kind. The reach of locks and
// the cost of reading depend on the kind. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace xtts {

enum class FileSystemKind : std::uint8_t {
  kMemory,   // of this machine, without a disk
  kDisk,     // of this machine
  kNetwork,  // another machine's, or shared with others
  kProgram,  // whatever a program makes of it (FUSE)
};

struct FileSystem {
  std::uint32_t type = 0;
  FileSystemKind kind = FileSystemKind::kDisk;
  std::string_view name = {};
};

// Null: unknown.
[[nodiscard]] const FileSystem* find_file_system(std::uint32_t type) noexcept;

}  // namespace xtts
