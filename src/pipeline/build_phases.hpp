// The phases of a build. Each takes values of the phases before it and makes the next.
// compute_build() closes StartedBuild's journal, publish_build() gives up CacheState's lock.
//
//   BuildRequest ─► CacheState ─► Settled ─► Planned ─► StartedBuild ─► Computed ─► Indexed
//     what is        what is       lengths    what the   journal         sealed      tables,
//     asked          at CACHE      that were  build      and preview     shards,     manifest
//                                  open       does                       rejects
//
// and at last BuildReport: what is published.
// From Settled on, BuildJob::request is Settled::request.
//
// One thread at a time. Failures are those of build().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "formats/reject.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_report.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/index_build.hpp"
#include "pipeline/sealed_work.hpp"
#include "pipeline/unfinished.hpp"
#include "reader/cache_view.hpp"
#include "records/stage_times.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"
#include "store/source_table.hpp"

namespace xtts::pipeline {

// The context that all phases share. The request's `cancelled` calls the observer.
struct BuildJob {
  Env& env;
  const BuildRequest& request;
  BuildObserver& observer;
};

// The state of CACHE before the build.
struct CacheState {
  // The cache that the build continues, with a lock on its generation; null if the build begins
  // anew.
  std::shared_ptr<reader::CacheView> previous;
  // The manifest that --overwrite replaces. It stays until the new cache is published.
  std::optional<formats::Manifest> overwritten;
  // False if --overwrite replaces a manifest that cannot be read. Its files are unknown, so nothing
  // counts as garbage until the new manifest is published.
  bool is_garbage_known = true;
  std::optional<store::SourceTable> sources;

  [[nodiscard]] const formats::Manifest* published() const noexcept;
};
// `folder`: null in a dry run, which takes no lock.
[[nodiscard]] Result<CacheState> read_cache_state(const BuildJob& job, store::CacheFolder* folder);

struct Settled {
  BuildRequest request;  // leaves no length of the recipe open
  ChosenLengths lengths;
  formats::Recipe asked;                 // before lengths were chosen
  std::optional<corpus::Corpus> corpus;  // set if choosing them took a listing of DATA
};
// Checks the request and the published cache, too, before looking at DATA.
[[nodiscard]] Result<Settled> settle_lengths(const BuildJob& job, const CacheState& cache_state);

struct Planned {
  std::shared_ptr<const dsp::FrameEngines> engines;  // null: the CPU's
  formats::Numerics numerics;                        // of this machine
  std::vector<formats::ColumnSpec> columns;  // made of sound; as published, if there is a cache
  BuildPlan plan;
  ChosenLengths lengths;
  bool is_done = false;               // the published cache is what the request asks for
  formats::Recipe asked;              // before the corpus chose its lengths
  bool continues_unfinished = false;  // .build/ holds work that may be taken over
};
// Takes `settled.corpus`.
[[nodiscard]] Result<Planned> plan_build(const BuildJob& job, const CacheState& cache_state,
                                         Settled& settled);

// The preview of a build that need not decode `sealed_count` clips of its plan.
[[nodiscard]] BuildPreview preview_build(const BuildJob& job, const CacheState& cache_state,
                                         const Planned& planned, std::uint64_t sealed_count);
// The preview of a build that has nothing to do, from the report of what is published.
[[nodiscard]] BuildPreview preview_done(const BuildJob& job, const Planned& planned,
                                        const BuildReport& published);

// Finds the part of the plan that an interrupted build has done. Work of another recipe was refused
// before (unfinished.hpp), unless it is to be discarded.
[[nodiscard]] Result<SealedWork> find_sealed_work(const BuildJob& job, const Planned& planned,
                                                  std::uint64_t generation);

struct StartedBuild {
  std::uint64_t generation = 1;
  std::unique_ptr<store::Journal> journal;  // null if nothing is to compute
  SealedWork sealed;                        // by an interrupted build
  BuildPreview preview;                     // as the observer received it
};
[[nodiscard]] Result<StartedBuild> begin_build(const BuildJob& job, const CacheState& cache_state,
                                               const Planned& planned, store::CacheFolder& folder);

struct Computed {
  std::vector<store::JournalShard> shards;
  std::vector<formats::Reject> rejects;  // all, in the order of rejects.jsonl
  std::uint64_t computed_count = 0;
  records::StageTimes times;

  [[nodiscard]] bool has_records() const noexcept;
};
// Closes the journal: on some file systems a folder with an open file in it cannot be removed.
[[nodiscard]] Result<Computed> compute_build(const BuildJob& job, const CacheState& cache_state,
                                             const Planned& planned, StartedBuild& started,
                                             store::CacheFolder& folder);

struct Indexed {
  bool is_same = false;  // the index of the published generation, byte for byte
  IndexResult index;
};
[[nodiscard]] Result<Indexed> index_computed(const BuildJob& job, const CacheState& cache_state,
                                             const Planned& planned, const StartedBuild& started,
                                             const Computed& computed, store::CacheFolder& folder);

// Releases `standing.previous`, and with it the lock on the replaced generation.
[[nodiscard]] Result<BuildReport> publish_build(const BuildJob& job, CacheState& cache_state,
                                                const Planned& planned, const Computed& computed,
                                                const Indexed& indexed, store::CacheFolder& folder);

// Ends a build that has nothing to publish. It completes what a build left undone that died after
// writing its manifest. `folder` may be null.
[[nodiscard]] Result<BuildReport> report_published(const BuildJob& job,
                                                   const CacheState& cache_state,
                                                   const Planned& planned,
                                                   store::CacheFolder* folder);

[[nodiscard]] std::vector<store::SealedShard> sealed_of(
    const std::vector<store::JournalShard>& shards);

}  // namespace xtts::pipeline
