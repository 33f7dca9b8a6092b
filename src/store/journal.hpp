// Journal records the shards that an unfinished build has sealed (cache-v1.md, section 10). It is
// append-only text; each line has a check and is synced. A line is written after its shard is
// durable, so every line with a correct check is true. A torn last line is ignored. One thread at
// a time. Failures: kResource.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/reject.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// The facts that must be equal for a build to continue the journal.
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
  std::vector<SealedShard> sealed;       // one per computed column; empty if no clip survived
  std::vector<formats::Reject> rejects;  // of its planned clips
};

// The number of clips in the shard.
[[nodiscard]] inline std::uint64_t record_count(const JournalShard& shard) {
  return shard.sealed.empty() ? 0 : shard.sealed.front().record_count;
}

class Journal {
 public:
  struct Opened;
  // Continues the journal whose head equals `head`; otherwise begins a new one (the old one's
  // shards are garbage). `folder` outlives the journal. kBusy from any call: another builder has
  // taken over.
  [[nodiscard]] static Result<Opened> open(Env& env, CacheFolder& folder, const JournalHead& head);
  // The number of planned shards that an interrupted build of these clips has done, for previews.
  // Compares only `plan` of the head. Writes nothing.
  [[nodiscard]] static std::uint64_t shard_count(Env& env, const std::string& cache,
                                                 const Digest& plan);
  // For open() only.
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
