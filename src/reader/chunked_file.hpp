// ChunkedFile gives checked bytes of an index file (cache-v1.md, section 8). The footer and the
// table of chunk checks are verified at open, each 64 KiB chunk at its first read. No byte is
// returned before its chunk has passed its check.
//
// It keeps the last chunks (kept_things.hpp), 64 MiB, so that opening and searching a cache of ten
// million clips needs constant memory. Synchronised inside: any number of threads. Failures:
// kNotFound (no such file), kCorrupt (names file and offset), kUnsupported (newer version),
// kResource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/index.hpp"
#include "reader/kept_things.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// The manifest's entry about an index file.
struct IndexIdentity {
  std::uint64_t file_bytes = 0;
  Digest digest;
};

class ChunkedFile {
 public:
  // `name`: the file's name in messages. `env` must outlive the object.
  [[nodiscard]] static Result<std::unique_ptr<ChunkedFile>> open(
      Env& env, const std::string& path, std::string name, const IndexIdentity& identity,
      std::shared_ptr<Kept> kept = std::make_shared<Kept>());

  // From here on, `path` by `env` is the file: a path that holds when the program changes its
  // folder.
  void reopen_as(Env& env, std::string path) {
    env_ = &env;
    path_ = std::move(path);
  }

  [[nodiscard]] const formats::IndexFooter& footer() const noexcept { return footer_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Fills `out` from `offset_bytes`.
  [[nodiscard]] Status read(std::uint64_t offset_bytes, std::span<std::byte> out);
  // Reads and checks a chunk again, even if it is kept.
  [[nodiscard]] Status check_chunk(std::uint64_t chunk) const;

 private:
  using Chunk = std::shared_ptr<const std::vector<std::byte>>;
  using File = std::shared_ptr<const RandomAccessFile>;

  ChunkedFile(Env& env, std::string path, std::string name, const IndexIdentity& identity,
              std::shared_ptr<Kept> kept);
  // Opens the file again where it is no longer kept.
  [[nodiscard]] Result<File> file() const;
  [[nodiscard]] Status load_footer();
  [[nodiscard]] Status load_chunk_checks();
  [[nodiscard]] Result<std::vector<std::byte>> load_chunk(std::uint64_t chunk) const;
  [[nodiscard]] Result<Chunk> chunk_at(std::uint64_t chunk);

  Env* env_;
  std::string path_;
  const std::string name_;
  const IndexIdentity identity_;
  const std::shared_ptr<Kept> kept_;
  const std::uint64_t owner_;
  formats::IndexFooter footer_;
  std::vector<std::uint64_t> chunk_checks_;
};

}  // namespace xtts::reader
