// MemoryFile is a file in memory (memfd) with a path, for libraries that write only to paths, and
// a view of the result. It is sparse: only written pages take memory. One thread at a time.
// Failures: kResource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/system_call.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

class MemoryFile {
 public:
  [[nodiscard]] static Result<MemoryFile> create();

  [[nodiscard]] std::string path() const;  // below /proc; without /proc calls fail with kResource
  [[nodiscard]] Status cut(std::uint64_t size_bytes);
  // Maps the file, read-only. Nothing is written after this point. Valid while this object lives.
  [[nodiscard]] Result<std::span<const std::byte>> map();

 private:
  explicit MemoryFile(Descriptor fd) : fd_(std::move(fd)) {}

  Descriptor fd_;
  Mapping mapping_;
};

}  // namespace xtts::store
