// SourceFile: a clip's bytes and their content hash. A file that fits into the buffer is read once.
// One thread at a time. Failures: kSourceIo (reading failed, or the file changed twice while it was
// read), kBadInput (not a regular file).
#pragma once

#include <memory>
#include <vector>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "corpus/files/source_place.hpp"
#include "xtts/status.hpp"

namespace xtts::records {

class SourceFile {
 public:
  // Larger files are read twice: once to hash them, once by the decoder.
  explicit SourceFile(std::uint64_t buffered_bytes_max) : buffered_bytes_max_(buffered_bytes_max) {}

  // Valid until the next read.
  struct Opened {
    const RandomAccessFile* file = nullptr;
    Digest content_digest;
    std::uint64_t size_bytes = 0;
  };
  [[nodiscard]] Result<Opened> read(Env& env, const corpus::SourcePlace& place);

 private:
  const std::uint64_t buffered_bytes_max_;
  std::unique_ptr<RandomAccessFile> file_;
  std::vector<std::byte> buffer_;
};

}  // namespace xtts::records
