// SourceFile: a clip's bytes with their content hash, read once where they fit into the buffer.
// One thread at a time. Failures: kSourceIo (reading failed, or the file changed twice while it was
// read), kBadInput (not a regular file).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

class SourceFile {
 public:
  static constexpr std::uint64_t kBufferedBytesMax = std::uint64_t{64} << 20U;

  // Valid until the next read.
  struct Opened {
    const RandomAccessFile* file = nullptr;
    Digest content_digest;
    std::uint64_t size_bytes = 0;
  };
  [[nodiscard]] Result<Opened> read(Env& env, const std::string& path);

 private:
  std::unique_ptr<RandomAccessFile> file_;
  std::vector<std::byte> buffer_;
};

}  // namespace xtts::pipeline
