// ScratchFile is a private file on disk, for data that does not fit into memory.
//
// One object owns the file, which vanishes with it. The real one has no name, so no other process
// can open, replace or guess it. The system frees its space however this process ends, so nothing
// has to be collected after a kill. append(): one thread at a time. read_at(): any number of
// threads, after the last append(). Failures: kResource (a full disk, an I/O error), kNotFound (no
// such folder).
//
// ScratchPlace is separate from Env because few parts of the project need scratch files. An Env
// that can make them is also a ScratchPlace.
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
  // `folder` exists, and all users may share it. Links inside it are not followed.
  [[nodiscard]] virtual Result<std::unique_ptr<ScratchFile>> open_scratch(
      const std::string& folder) = 0;
};

// Opens a scratch file in `folder`. kUnsupported: `env` is no ScratchPlace.
[[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch(Env& env,
                                                                const std::string& folder);

// Opens the operating system's scratch file (Linux): O_TMPFILE. Where the file system has no
// O_TMPFILE (NFS, old FUSE), it creates a file of mode 0600 with a name of 128 random bits and
// removes the name at once. A kill between these two steps leaves an empty file; the next call in
// that folder removes it.
[[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_real_scratch(const std::string& folder);
// Always uses the file with a name, for tests.
[[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch_by_name(const std::string& folder);

}  // namespace xtts
