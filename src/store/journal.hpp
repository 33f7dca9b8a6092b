// Journal: what an unfinished build has sealed (cache-v1.md, section 10). Append-only text, a check
// a line, synced a line. A line is written after its shard is durable, so every line that reads
// back right is true; a torn last line is no line. One thread at a time. Failures: kResource.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/reject.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// What a build must have in common with the journal to continue it.
struct JournalHead {
  Digest plan;  // of the clips to compute: ids, sources, sizes, mtimes
  Digest features_fingerprint;
  Digest storage_fingerprint;
  Digest numerics;
  std::uint64_t generation = 1;

  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

struct JournalShard {
  std::uint64_t planned_shard =
      0;  // s of planned clips [s*N, (s+1)*N); a shard without survivors has no files
  std::vector<SealedShard> sealed;  // of each column that was computed; none where none survived
  std::vector<formats::Reject> rejects;  // of its planned clips
};

// Clips that the shard holds.
[[nodiscard]] inline std::uint64_t record_count(const JournalShard& shard) {
  return shard.sealed.empty() ? 0 : shard.sealed.front().record_count;
}

class Journal {
 public:
  struct Opened;
  // Continues the journal whose head equals `head`; otherwise begins a new one (the old one's
  // shards are garbage). `folder` outlives the journal. kBusy from any call: another builder has
  // taken the cache over.
  [[nodiscard]] static Result<Opened> open(Env& env, CacheFolder& folder, const JournalHead& head);
  // So many planned shards an interrupted build of these clips has done, for previews: the head's
  // other fields are not compared. Writes nothing.
  [[nodiscard]] static std::uint64_t shard_count(Env& env, const std::string& cache,
                                                 const Digest& plan);
  // By open().
  Journal(CacheFolder& folder, std::unique_ptr<WritableFile> file)
      : folder_(folder), file_(std::move(file)) {}
  [[nodiscard]] Status append(const JournalShard& shard);

 private:
  [[nodiscard]] Status write(const std::string& line);

  CacheFolder& folder_;
  std::unique_ptr<WritableFile> file_;
  Status failure_;
};

struct Journal::Opened {
  std::unique_ptr<Journal> journal;
  std::vector<JournalShard> shards;  // of the interrupted build, in the order of sealing
};

}  // namespace xtts::store
