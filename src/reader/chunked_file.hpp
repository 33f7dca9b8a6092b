// ChunkedFile gives checked bytes of an index file (cache-v1.md, section 8). The footer and the
// table of chunk checks are verified at open, each 64 KiB chunk at its first read. No byte is
// returned before its chunk has passed its check.
//
// Keeps the last kKeptChunksMax chunks, 64 MiB, so that opening and searching a cache of ten
// million clips needs constant memory. Synchronised inside: any number of threads. Failures:
// kNotFound (no such file), kCorrupt (names file and offset), kUnsupported (newer version),
// kResource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/env.hpp"
#include "formats/index.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// The manifest's entry about an index file.
struct IndexIdentity {
  std::uint64_t file_bytes = 0;
  Digest digest;
};

class ChunkedFile {
 public:
  // `name`: the file's name in messages.
  [[nodiscard]] static Result<std::unique_ptr<ChunkedFile>> open(Env& env, const std::string& path,
                                                                 std::string name,
                                                                 const IndexIdentity& identity);

  [[nodiscard]] const formats::IndexFooter& footer() const noexcept { return footer_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Fills `out` from `offset_bytes`.
  [[nodiscard]] Status read(std::uint64_t offset_bytes, std::span<std::byte> out);
  // Reads and checks a chunk again, even if it is kept.
  [[nodiscard]] Status check_chunk(std::uint64_t chunk) const;

 private:
  using Chunk = std::shared_ptr<const std::vector<std::byte>>;
  static constexpr std::size_t kKeptChunksMax = 1024;

  ChunkedFile(std::string name, std::unique_ptr<RandomAccessFile> file)
      : name_(std::move(name)), file_(std::move(file)) {}
  [[nodiscard]] Status load_footer(const IndexIdentity& identity);
  [[nodiscard]] Status load_chunk_checks();
  [[nodiscard]] Result<std::vector<std::byte>> load_chunk(std::uint64_t chunk) const;
  [[nodiscard]] Result<Chunk> chunk_at(std::uint64_t chunk);

  std::string name_;
  std::unique_ptr<RandomAccessFile> file_;
  formats::IndexFooter footer_;
  std::vector<std::uint64_t> chunk_checks_;

  std::mutex mutex_;  // guards the members below
  std::unordered_map<std::uint64_t, Chunk> kept_;
  std::deque<std::uint64_t> oldest_first_;
};

}  // namespace xtts::reader
