// CacheFolder manages a cache folder: its names, the builder's lock, sealing and publishing.
//
// Invariants:
//   1. A file under a published name is complete, synced, and never changes again.
//   2. The manifest is replaced last, atomically; until then nobody sees anything new.
//   3. Every rename is followed by a sync of its folder before anything relies on it.
// One builder at a time: open() takes the lock, and kBusy names the holder. Where locks may not
// reach everyone, a later kBusy means that another builder took over. One thread at a time, except
// seal(), which may run beside the others. Failures: kBusy, kResource, kCorrupt, kCancelled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "store/builder_lease.hpp"
#include "store/builder_lock.hpp"
#include "store/shard_image.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Paths, for readers and builders alike.
[[nodiscard]] inline std::string manifest_path(const std::string& cache) {
  return join_path(cache, "manifest.json");
}
[[nodiscard]] inline std::string column_folder(const std::string& cache, std::string_view column) {
  return join_path(join_path(cache, "shards"), column);
}
[[nodiscard]] inline std::string build_folder(const std::string& cache) {
  return join_path(cache, ".build");
}
[[nodiscard]] inline std::string rejects_path(const std::string& cache) {
  return join_path(cache, "rejects.jsonl");
}
[[nodiscard]] inline std::string sources_path(const std::string& cache) {
  return join_path(cache, "sources.bin");
}

// Files in .build/ with the records of an unsealed shard (maintain/record_spool.hpp).
inline constexpr std::string_view kSpoolPrefix = "records-";
// The sources of an unfinished build, in .build/ (source_table.hpp).
inline constexpr std::string_view kPlannedSources = "sources";

struct SealedShard {
  std::string column;
  formats::StoreKind store = formats::StoreKind::kLmdb;
  std::uint64_t ordinal = 0;
  std::uint64_t record_count = 0;
  Digest digest;
  formats::ShardTable table;
};

[[nodiscard]] inline std::string shard_path(const std::string& cache, const SealedShard& shard) {
  return join_path(column_folder(cache, shard.column),
                   formats::shard_file_name(shard.ordinal, shard.digest, shard.store));
}

// The generations in a cache folder (generations.hpp).
struct Generations {
  std::uint64_t newest = 0;      // 0: none
  bool are_others_read = false;  // readers hold indexes that the manifest no longer names
};

struct PendingFile;

class CacheFolder {
 public:
  // Creates the folder and .build/ if absent, and takes the lock. kBusy names pid and host of the
  // holder. `callbacks`: for network file systems.
  [[nodiscard]] static Result<std::unique_ptr<CacheFolder>> open(
      Env& env, const std::string& cache, const LeaseCallbacks& callbacks = {});
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return cache_; }
  // The published manifest; nullopt: none; kCorrupt: a damaged one.
  [[nodiscard]] Result<std::optional<formats::Manifest>> manifest();

  // Checks that the cache is still ours. kBusy: another builder has taken over. seal() and all
  // other visible steps call this themselves.
  [[nodiscard]] Status check() { return lock_->check(); }

  // Writes the image to .build/, syncs, renames it to its published name, syncs the folder.
  [[nodiscard]] Result<SealedShard> seal(std::string_view column, std::uint64_t ordinal,
                                         const FinishedImage& image);
  // Gives a sealed shard of another cache a name in this one, without reading it: by a link, or by
  // a copy (returns true) where file systems cannot link. `shard.ordinal` belongs to this cache.
  [[nodiscard]] Result<bool> adopt(const SealedShard& shard, const std::string& from);
  // True where the sealed file exists with its table's size and block headers. Reads only headers.
  [[nodiscard]] Result<bool> is_intact(const SealedShard& shard);

  // Begins an index (or any file named by its content) under a temporary name, for commit_file().
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> begin_file(std::string_view temporary_name);
  [[nodiscard]] Status commit_file(std::string_view temporary_name, std::string_view name);

  // Writes a private file of the builder (the journal), syncs it and renames it to `path`.
  [[nodiscard]] Status replace(std::string_view temporary_name, const std::string& path,
                               std::string_view text);
  // Renames a file from begin_file() to `path`. A power cut may destroy it (sources.bin).
  [[nodiscard]] Status commit_disposable(std::string_view temporary_name, const std::string& path);

  // First removes indexes that neither the manifest names nor a reader holds. A build that died
  // before it published has left them, and its generation number is used again.
  [[nodiscard]] Result<Generations> generations();

  // Replaces the index's copy, then the manifest, then rejects.jsonl. The old generation stays
  // readable until collect_garbage().
  [[nodiscard]] Status publish(const formats::Manifest& manifest, std::string_view rejects_jsonl);
  // Removes files with published names, except those that `manifest`, `keep` or the manifest on
  // disk name. That one is read again before each removal. Files that a reader holds stay.
  [[nodiscard]] Status collect_garbage(const formats::Manifest* manifest,
                                       std::span<const SealedShard> keep);
  // Removes .build/ with the journal; the lock is released at destruction. Also removes the
  // cache's folder if open() made it and nothing was published in it; it must be empty by then.
  [[nodiscard]] Status finish();

 private:
  // `is_new`: we made the folder; finish() removes it, through `whole_env`, if it stayed empty.
  CacheFolder(Env& whole_env, std::shared_ptr<Env> env, std::string cache,
              std::unique_ptr<BuilderLock> lock, bool is_new);
  [[nodiscard]] Status clear_build_folder(const std::set<std::string>& keep, bool keeps_spools);
  void remove_empty_folders();
  [[nodiscard]] std::string temporary_path(std::string_view name) const;
  [[nodiscard]] Status prepare_column(const std::string& column);
  [[nodiscard]] Status check_names(const formats::Manifest& manifest);
  [[nodiscard]] Status check_size(const std::string& path, std::uint64_t size_bytes);
  [[nodiscard]] Status write_temporary(const std::string& path, std::span<const std::byte> bytes);
  [[nodiscard]] Status or_taken_over(Status status);
  [[nodiscard]] Status show(const std::string& temporary, const std::string& path);
  [[nodiscard]] Result<bool> may_go(const std::string& path);

  Env& whole_env_;
  const std::shared_ptr<Env> confined_;  // to cache_
  Env& env_;
  const std::string cache_;
  const std::unique_ptr<BuilderLock> lock_;
  const bool is_new_;
  std::map<std::string, std::shared_ptr<PendingFile>> pending_;
  // The manifest at the last call of may_go().
  std::optional<FileFacts> seen_manifest_;
  std::optional<std::set<std::string>> named_now_;
  std::mutex mutex_;
  std::set<std::string> prepared_columns_;  // guarded by mutex_
};

// Writes a lost manifest.json again. Unlike publish(), it does not check that all shards exist.
[[nodiscard]] Status replace_manifest(CacheFolder& folder, std::string_view text);
// Writes rejects.jsonl alone, as publish() does: a copy of the index's section for people.
[[nodiscard]] Status replace_rejects(CacheFolder& folder, std::string_view rejects_jsonl);

}  // namespace xtts::store
