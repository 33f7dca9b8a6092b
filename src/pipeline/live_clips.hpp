// LiveClips: the clips of DATA as a build would plan them. It computes each clip on request, with
// the code that makes a cache's records (records/clip_workers.hpp, text_column.hpp), and stores
// nothing. The numbers are, bit for bit, those of a new cache from the same request.
//
// Positions are the planned clips in canonical order, without the clips that the plan itself
// rejects (lists, texts). They equal the positions of that cache if no sound is rejected.
//
// Synchronised inside, once opened: any number of threads may ask for records at once, and each
// uses a worker of its own meanwhile. Memory: the plan, and a share of RunConfig::memory_bytes for
// each thread that computes at once (thread_count of them are expected). Disk: what SharedSources
// keeps, in scratch files.
//
// Failures: open() fails as a build does before it computes (kInvalidArgument, kNotFound,
// kTooManyRejects if nothing is left, ...), and with kUnsupported for rules that need all clips at
// once. record() fails with kResource or kInternal. A fault of a clip is in the answer, as in
// rejects.jsonl.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/env.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe.hpp"
#include "formats/reject.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/name_table.hpp"
#include "records/clip_workers.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// One clip's records, in the order of columns().
struct LiveRecord {
  std::optional<formats::Reject> reject;  // if set, nothing below is valid
  std::vector<RecordRows> records;
  std::uint32_t frame_count = 0;
  std::uint32_t token_count = 0;
  // The facts that a cache's index would hold for it, without duplicates: these need all clips at
  // once.
  formats::RecordFacts facts;
  std::uint8_t flags = 0;  // of its index row
};

class LiveClips {
 public:
  // `request` has no cache, partition and the like: they mean nothing here. `scratch_folder` must
  // exist; users may share one.
  [[nodiscard]] static Result<std::unique_ptr<LiveClips>> open(Env& env, BuildRequest request,
                                                               std::string scratch_folder);
  LiveClips(const LiveClips&) = delete;
  LiveClips& operator=(const LiveClips&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return plan_.to_compute.size(); }
  // `position` is below size().
  [[nodiscard]] const corpus::Clip& clip(std::uint64_t position) const {
    return plan_.corpus.clips[plan_.to_compute[position]];
  }
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view full_id) const;

  [[nodiscard]] const std::string& data() const noexcept { return request_.data.path; }
  [[nodiscard]] const BuildPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const formats::Recipe& recipe() const noexcept { return request_.recipe; }
  // As in the manifest, with tokens last, if there are any.
  [[nodiscard]] const std::vector<formats::ColumnEntry>& columns() const noexcept {
    return columns_;
  }
  [[nodiscard]] const NameTable& speakers() const noexcept { return speakers_; }
  [[nodiscard]] const NameTable& languages() const noexcept { return languages_; }
  [[nodiscard]] const NameTable& datasets() const noexcept { return datasets_; }
  // The manifest of a cache of these clips, without shards, statistics and an index.
  [[nodiscard]] formats::Manifest manifest() const;
  // The facts that are known before the sound is. `position` is below size().
  [[nodiscard]] formats::RecordFacts facts(std::uint64_t position) const;
  [[nodiscard]] std::uint32_t thread_count() const noexcept {
    return std::max(request_.run.thread_count, 1U);
  }

  // `position` is below size(). A reject is found once and then remembered. A fault of the
  // environment is tried again, except for a source that segments share. `buffers` may hold
  // anything: they are reused, and returned in the answer.
  [[nodiscard]] Result<LiveRecord> record(std::uint64_t position,
                                          std::vector<RecordRows> buffers = {});
  [[nodiscard]] std::optional<formats::Reject> known_reject(std::uint64_t position) const;
  // The positions, ascending, of clips that will have no record when asked for again.
  [[nodiscard]] std::vector<std::uint64_t> rejected() const;

  // How many clips are at fault, by the plan or by record(), and how many faults a build would
  // tolerate. Policy drops are no faults.
  [[nodiscard]] std::uint64_t fault_count() const;
  [[nodiscard]] std::uint64_t faults_allowed() const;
  [[nodiscard]] std::optional<formats::Reject> first_fault() const;

 private:
  LiveClips(Env& env, BuildRequest request, std::string scratch_folder);
  [[nodiscard]] Status prepare();
  [[nodiscard]] PlanRequest plan_request(const formats::Recipe& recipe) const;
  // The listing of DATA, if it was needed.
  [[nodiscard]] Result<std::optional<corpus::Corpus>> settle_lengths();
  [[nodiscard]] Status add_tokens(const corpus::Clip& clip, std::vector<std::byte> buffer,
                                  LiveRecord& record) const;
  void describe(const corpus::Clip& clip, LiveRecord& record) const;

  BuildRequest request_;                 // leaves no length open once prepared
  const std::shared_ptr<Env> confined_;  // confined to DATA
  Env& env_;
  const std::string scratch_folder_;
  BuildPlan plan_;
  std::unordered_map<std::string, std::uint32_t> positions_;  // by full id
  std::vector<formats::ColumnEntry> columns_;
  NameTable speakers_{{}, {}}, languages_{{}, {}}, datasets_{{}, {}};
  std::optional<text::Tokenizer> tokenizer_;  // if there is a column of tokens
  std::optional<records::ClipWorkers> workers_;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, formats::Reject> rejects_;  // by position
};

}  // namespace xtts::pipeline
