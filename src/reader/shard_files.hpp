// ShardFiles opens the shard files of one generation when they are first needed. At most kOpenMax
// stay open, so that a cache of twenty thousand shards fits a process's limit of descriptors. A
// closed file is opened again when needed. If descriptors run out, kept files are closed first.
//
// Files for direct reads are kept separately, also kOpenMax at most.
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
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "formats/manifest.hpp"
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
  ShardFiles(Env& env, std::string cache, const formats::Manifest& manifest)
      : env_(env), cache_(std::move(cache)), manifest_(manifest) {}

  // The shard must be one of the manifest's.
  [[nodiscard]] Result<std::shared_ptr<const ShardFile>> open(std::uint32_t column_id,
                                                              std::uint64_t ordinal);
  [[nodiscard]] Result<std::shared_ptr<const ShardFile>> open_of_any_length(std::uint32_t column_id,
                                                                            std::uint64_t ordinal);
  [[nodiscard]] Result<std::shared_ptr<const DirectFile>> open_direct(std::uint32_t column_id,
                                                                      std::uint64_t ordinal);

 private:
  static constexpr std::size_t kOpenMax = 64;
  // The last kOpenMax files of one kind, the oldest first.
  template <typename File>
  struct OpenFiles {
    std::unordered_map<std::uint64_t, std::shared_ptr<const File>> by_key;
    std::deque<std::uint64_t> oldest_first;
    void add(std::uint64_t key, std::shared_ptr<const File> file);
  };
  [[nodiscard]] Result<std::shared_ptr<const ShardFile>> open_locked(std::uint32_t column_id,
                                                                     std::uint64_t ordinal);
  template <typename Open>
  [[nodiscard]] auto open_making_room(Open open);

  Env& env_;
  std::string cache_;
  const formats::Manifest& manifest_;

  std::mutex mutex_;  // guards the members below
  OpenFiles<ShardFile> open_;
  OpenFiles<DirectFile> open_direct_;
};

}  // namespace xtts::reader
