// ShardFiles opens the shard files of one generation when they are first needed. The last ones stay
// open (kept_things.hpp), so that a cache of twenty thousand shards fits a process's limit of
// descriptors. If descriptors run out, kept files are closed first. A file that a copy of a
// published cache lacks is fetched (missing_file.hpp).
//
// A returned file stays open as long as its holder keeps it. Synchronised inside: any number of
// threads. Failures: kCorrupt (missing, or not as long as the manifest says), kResource,
// kUnsupported (no direct reads there).
//
// open_of_any_length() also returns a file of the wrong length, for callers that check each block
// and record, because most of a truncated shard is sound. Such a file is not kept open, so that
// the next call finds a repaired shard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "reader/kept_things.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

struct ShardFile {
  std::string name;  // relative to the cache
  std::unique_ptr<RandomAccessFile> file;
  std::string wrong_length;  // the file's and the manifest's length, in words; empty: equal
};

class ShardFiles {
 public:
  // `env` and `manifest` must outlive it.
  ShardFiles(Env& env, std::string cache, const formats::Manifest& manifest,
             std::shared_ptr<Kept> kept = std::make_shared<Kept>())
      : env_(env),
        cache_(std::move(cache)),
        manifest_(manifest),
        kept_(std::move(kept)),
        owner_(kept_->new_owner()) {}

  // The shard must be one of the manifest's.
  [[nodiscard]] Result<std::shared_ptr<const ShardFile>> open(std::uint32_t column_id,
                                                              std::uint64_t ordinal);
  [[nodiscard]] Result<std::shared_ptr<const ShardFile>> open_of_any_length(std::uint32_t column_id,
                                                                            std::uint64_t ordinal);
  [[nodiscard]] Result<std::shared_ptr<const DirectFile>> open_direct(std::uint32_t column_id,
                                                                      std::uint64_t ordinal);

 private:
  template <typename Open>
  [[nodiscard]] auto open_making_room(Open open);
  [[nodiscard]] KeptKey key_of(std::uint32_t column_id, std::uint64_t ordinal) const {
    return {owner_, std::uint64_t{column_id} << 32U | ordinal};  // both are u32 on disk
  }

  Env& env_;
  std::string cache_;
  const formats::Manifest& manifest_;
  const std::shared_ptr<Kept> kept_;
  const std::uint64_t owner_;
};

}  // namespace xtts::reader
