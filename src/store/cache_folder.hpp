// CacheFolder: the names in a cache folder, the builder's lock, sealing and publishing.
//
// Invariants:
//   1. A file under a published name is complete, synced, and never changes again.
//   2. The manifest is replaced last, atomically; until then nobody sees anything new.
//   3. Every rename is followed by a sync of its folder before anything relies on it.
// One builder at a time (open takes the lock, kBusy tells who holds it; where locks may not reach
// everyone, kBusy from any step later means that another has taken over); one thread at a time but
// for seal, which may run beside the others. Failures: kBusy, kResource, kCorrupt, kCancelled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "store/builder_lease.hpp"
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

// Files in .build/ that hold what an unsealed shard was given (maintain/record_spool.hpp).
inline constexpr std::string_view kSpoolPrefix = "records-";

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

// What a cache folder names (generations.hpp).
struct Generations {
  std::uint64_t newest = 0;      // 0: none
  bool are_others_read = false;  // readers hold indexes that the manifest does not name any more
};

class CacheFolder {
 public:
  // Creates folder and .build/ where they are absent, takes the lock. kBusy names pid and host of
  // the holder. `notices`: of network file systems.
  [[nodiscard]] static Result<std::unique_ptr<CacheFolder>> open(Env& env, const std::string& cache,
                                                                 const HoldNotices& notices = {});
  virtual ~CacheFolder() = default;

  [[nodiscard]] virtual const std::string& path() const = 0;
  // The published manifest; nothing when there is none; kCorrupt when there is a damaged one.
  [[nodiscard]] virtual Result<std::optional<formats::Manifest>> manifest() = 0;

  // Is the cache still ours? kBusy where another builder has taken over. seal() and all that others
  // will see ask by themselves.
  [[nodiscard]] virtual Status check() = 0;

  // Writes the image to .build/, syncs, renames it to its published name, syncs the folder.
  [[nodiscard]] virtual Result<SealedShard> seal(std::string_view column, std::uint64_t ordinal,
                                                 const FinishedImage& image) = 0;
  // Gives a sealed shard of another cache its name in this one, without reading it: a link, or
  // where file systems cannot link, a copy (true). `shard.ordinal` is the one here.
  [[nodiscard]] virtual Result<bool> adopt(const SealedShard& shard, const std::string& from) = 0;
  // Is the sealed file there, with the size and the block headers that the table tells? Reads
  // headers only.
  [[nodiscard]] virtual Result<bool> is_intact(const SealedShard& shard) = 0;

  // An index (or any file whose name comes from its content): written under a temporary name, then
  // renamed.
  [[nodiscard]] virtual Result<std::unique_ptr<WritableFile>> begin_file(
      std::string_view temporary_name) = 0;
  [[nodiscard]] virtual Status commit_file(std::string_view temporary_name,
                                           std::string_view name) = 0;

  // A file of the builder's own (the journal), whole: written, synced, renamed to `path`.
  [[nodiscard]] virtual Status replace(std::string_view temporary_name, const std::string& path,
                                       std::string_view text) = 0;
  // A file from begin_file() that may be lost with the power (sources.bin): renamed to `path`.
  [[nodiscard]] virtual Status commit_disposable(std::string_view temporary_name,
                                                 const std::string& path) = 0;

  // Indexes that neither the manifest names nor a reader holds go before anybody counts: a build
  // that died before it published has left them, and its generation is to be had again.
  [[nodiscard]] virtual Result<Generations> generations() = 0;

  // Replaces the manifest, then rejects.jsonl. What was published before stays readable until
  // collect_garbage.
  [[nodiscard]] virtual Status publish(const formats::Manifest& manifest,
                                       std::string_view rejects_jsonl) = 0;
  // Removes published-looking files that neither `manifest` nor `keep` names, nor the manifest
  // that is there right before each of them goes. Files that a reader holds stay.
  [[nodiscard]] virtual Status collect_garbage(const formats::Manifest* manifest,
                                               std::span<const SealedShard> keep) = 0;
  // Removes .build/ with the journal; the lock goes with it at destruction. So does the cache's
  // folder where open() made it and nothing was published in it: it must be empty by then.
  [[nodiscard]] virtual Status finish() = 0;
};

// manifest.json alone, where it was lost: publish() without looking whether all shards are there.
[[nodiscard]] Status replace_manifest(CacheFolder& folder, std::string_view text);
// rejects.jsonl alone, as publish() writes it: a copy of the index's section for people.
[[nodiscard]] Status replace_rejects(CacheFolder& folder, std::string_view rejects_jsonl);

}  // namespace xtts::store
