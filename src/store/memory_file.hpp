// MemoryFile: a file in memory (memfd) with a path, for libraries that only write to paths, and a
// view of what they wrote. Sparse: it takes memory for the pages that were written and for no
// others. One thread at a time. Failures: kResource.
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

  [[nodiscard]] std::string path() const;  // below /proc: kResource's usual reason is its absence
  [[nodiscard]] Status cut(std::uint64_t size_bytes);
  // All of it, read only; nothing is written after this point. Valid while this object lives.
  [[nodiscard]] Result<std::span<const std::byte>> map();

 private:
  explicit MemoryFile(Descriptor fd) : fd_(std::move(fd)) {}

  Descriptor fd_;
  Mapping mapping_;
};

}  // namespace xtts::store
