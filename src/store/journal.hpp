// Journal records the shards that an unfinished build has sealed (cache-v1.md, section 10). It is
// append-only text; each line has a check and is synced. A line is written after its shard is
// durable, so every line with a correct check is true. A torn last line is ignored. One thread at
// a time. Failures: kResource.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/reject.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Whose work a journal holds. Two heads are equal when one build continues the other's plan.
struct JournalHead {
  Digest plan;  // of the clips to compute: ids, sources, sizes, mtimes
  Digest features_fingerprint;
  Digest storage_fingerprint;
  Digest numerics;
  std::uint64_t generation = 1;
  // The caller's text about the request, for messages and for the build that goes on.
  std::string about = {};

  friend bool operator==(const JournalHead& a, const JournalHead& b) {
    return a.plan == b.plan && a.features_fingerprint == b.features_fingerprint &&
           a.storage_fingerprint == b.storage_fingerprint && a.numerics == b.numerics &&
           a.generation == b.generation;
  }
};

struct JournalShard {
  std::uint64_t planned_shard =
      0;  // s of planned clips [s*N, (s+1)*N); a shard without survivors has no files
  std::vector<SealedShard> sealed;       // one per computed column; empty if no clip survived
  std::vector<formats::Reject> rejects;  // of its planned clips
  // The shard is of another plan: its records wait until this one's shards have taken them over.
  bool is_kept = false;
  // Of a kept shard: its corpus section, or the length of its records, is not this plan's.
  bool has_other_rules = false;
  bool has_other_features = false;
};

// No head: no journal, or nothing in it that we wrote.
struct JournalContents {
  std::optional<JournalHead> head;
  std::vector<JournalShard> shards;  // in the order of their lines
};
[[nodiscard]] Result<JournalContents> read_journal(Env& env, const std::string& cache);

// The number of clips in the shard.
[[nodiscard]] inline std::uint64_t record_count(const JournalShard& shard) {
  return shard.sealed.empty() ? 0 : shard.sealed.front().record_count;
}

class Journal {
 public:
  struct Opened;
  // Writes the journal anew, with these lines. `folder` outlives the journal. kBusy from any call:
  // another builder has taken over.
  [[nodiscard]] static Result<std::unique_ptr<Journal>> begin(Env& env, CacheFolder& folder,
                                                              const JournalHead& head,
                                                              std::span<const JournalShard> shards);
  // Continues the journal whose head equals `head`; otherwise begins a new one (the old one's
  // shards are garbage).
  [[nodiscard]] static Result<Opened> open(Env& env, CacheFolder& folder, const JournalHead& head);
  // For begin() only.
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
