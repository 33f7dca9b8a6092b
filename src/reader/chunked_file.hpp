// ChunkedFile: an index file (cache-v1.md, section 8) as checked bytes. The footer and the table of
// chunk checks are verified at open; each 64 KiB chunk when it is first read. No byte leaves before
// its chunk's check was found right.
//
// Keeps the last kKeptChunksMax chunks read, 64 MiB: a cache of ten million clips opens and is
// searched in flat memory. Synchronised inside: any number of threads. Failures: kNotFound (no such
// file), kCorrupt (names file and offset), kUnsupported (newer version), kResource.
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

// What the manifest tells of an index file.
struct IndexIdentity {
  std::uint64_t file_bytes = 0;
  Digest digest;
};

class ChunkedFile {
 public:
  // `name` is what messages call the file.
  [[nodiscard]] static Result<std::unique_ptr<ChunkedFile>> open(Env& env, const std::string& path,
                                                                 std::string name,
                                                                 const IndexIdentity& identity);

  [[nodiscard]] const formats::IndexFooter& footer() const noexcept { return footer_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Fills `out` from `offset_bytes`.
  [[nodiscard]] Status read(std::uint64_t offset_bytes, std::span<std::byte> out);
  // Reads and checks a chunk anew, whatever is kept of it.
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

  std::mutex mutex_;  // guards what stands below
  std::unordered_map<std::uint64_t, Chunk> kept_;
  std::deque<std::uint64_t> oldest_first_;
};

}  // namespace xtts::reader
