// ScratchFile: bytes on a disk that nobody else can reach, for what does not fit into memory.
//
// Owned by one object, and gone with it. The real one has no name, so no other process can open,
// replace or guess it, and the system frees its space however this process ends: there is nothing
// to collect after a kill. append(): one thread at a time. read_at(): any number of threads, after
// the last append(). Failures: kResource (a full disk, an I/O error), kNotFound (no such folder).
//
// It stands beside Env, and not in it, because few parts of the project keep scratch. An Env that
// can make scratch files is a ScratchPlace, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts {

class ScratchFile {
 public:
  virtual ~ScratchFile() = default;
  [[nodiscard]] virtual Status append(std::span<const std::byte> bytes) = 0;
  // Fills `out` from `offset_bytes`; fewer bytes than asked only at the end of the file.
  [[nodiscard]] virtual Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                                    std::span<std::byte> out) const = 0;
};

class ScratchPlace {
 public:
  virtual ~ScratchPlace() = default;
  // `folder` is there already, and may be one that all users share. Links inside it are not
  // followed.
  [[nodiscard]] virtual Result<std::unique_ptr<ScratchFile>> open_scratch(
      const std::string& folder) = 0;
};

// In `folder`, by the scratch place that `env` is. kUnsupported where it is none.
[[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch(Env& env,
                                                                const std::string& folder);

// The operating system's (Linux): O_TMPFILE. Where the file system has none of that (NFS, old
// FUSE), a new file of mode 0600 with a name of 128 random bits, which is removed at once. A kill
// between these two steps leaves an empty file; the next call in that folder removes it.
[[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_real_scratch(const std::string& folder);
// The second way alone, for tests.
[[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch_by_name(const std::string& folder);

}  // namespace xtts
