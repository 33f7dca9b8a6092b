// SealedWork: what an interrupted build has done of a plan. Its shards that hold just the clips of
// this plan's first shards stay. From all others, records are taken over one by one, by the content
// of their sources, and cut into this plan's shards. So a build loses nothing when files are
// touched or copied, or when clips come, go or are mended.
//
// find() reads headers and facts of all sealed shards, and hashes the sources whose size, times or
// inode have changed since. Damage is no failure: such a clip is computed. copy() may be called
// from any number of threads. Memory: some 100 bytes a clip while it looks,
// then 24.
//
// Nothing that was sealed is lost before a generation is published: a shard stays until others hold
// all its clips, also when this plan has no use for them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/env.hpp"
#include "formats/block.hpp"
#include "pipeline/build_plan.hpp"
#include "records/clip_worker.hpp"
#include "store/journal.hpp"
#include "store/source_table.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// Compares the interrupted build with this one.
struct Interrupted {
  bool is_same_plan = false;  // the very same clips, files and rules
  bool is_same_generation = false;
  bool has_same_features = false;  // else they differ in max_frames alone
  bool has_same_rules = false;     // of the corpus section
};

struct SealedWorkJob {
  Env& env;
  const BuildRequest& request;
  const BuildPlan& plan;
  std::span<const formats::ColumnSpec> columns;  // of sound, as this build makes them
  std::uint64_t generation = 1;
  Interrupted interrupted;
  const store::SourceTable* sources = nullptr;  // of the interrupted build, before it read them
};

class SealedWork {
 public:
  SealedWork() = default;
  // `shards`: the lines of the journal.
  [[nodiscard]] static Result<SealedWork> find(const SealedWorkJob& job,
                                               std::vector<store::JournalShard> shards);

  // This plan's shards 0, 1, ... that stay.
  [[nodiscard]] const std::vector<store::JournalShard>& whole() const noexcept { return whole_; }
  // The other shards of which something is taken over, or that alone hold a clip's record.
  [[nodiscard]] const std::vector<store::JournalShard>& kept() const noexcept { return kept_; }
  // The lines of the new journal.
  [[nodiscard]] std::vector<store::JournalShard> lines() const;
  // The sources of the plan's clips as they are now, to be saved before any of them is read.
  [[nodiscard]] store::SourceTable sources_of(const BuildPlan& plan) const;
  // Clips of the plan that need not be decoded.
  [[nodiscard]] std::uint64_t clip_count() const noexcept { return clip_count_; }

  // has() is true where the clip at this place of `to_compute` need not be decoded; copy() gives
  // its outcome, but for the rules of the corpus section. kCorrupt: the record is damaged.
  [[nodiscard]] bool has(std::size_t place) const;
  [[nodiscard]] Result<records::ClipOutcome> copy(Env& env, const std::string& cache,
                                                  std::size_t place) const;

 private:
  friend class SealedWorkFinder;
  struct Record {
    std::uint32_t shard = UINT32_MAX;  // in kept_; UINT32_MAX: none
    std::uint32_t number = 0;          // of the record in its shard
  };

  std::vector<store::JournalShard> whole_;
  std::vector<store::JournalShard> kept_;
  std::vector<Record> records_;                               // by place in to_compute
  std::vector<Digest> contents_;                              // of taken sources, by place
  std::unordered_map<std::size_t, formats::Reject> rejects_;  // by place
  std::uint64_t clip_count_ = 0;
};

}  // namespace xtts::pipeline
