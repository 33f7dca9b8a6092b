// LiveClips: the clips of DATA as a build would plan them, each computed when it is asked for, by
// the code that makes a cache's records (records/clip_workers.hpp, text_column.hpp). Nothing is
// stored. The numbers are, bit for bit, those of a cache that a build of the same request makes
// anew.
//
// Positions are the planned clips in canonical order, without those that the plan itself rejects
// (lists, texts): where no sound is rejected, they are the positions of that cache.
//
// Synchronised inside, once opened: any number of threads may ask for records at once, and each has
// a worker to itself while it is inside. Memory: the plan, and a share of
// RunConfig::memory_bytes for each thread that computes at once (thread_count of them are
// expected). Disk: what SharedSources keeps, in scratch files.
//
// Failures: open() as a build before it computes (kInvalidArgument, kNotFound, kTooManyRejects
// where nothing is left, ...) and kUnsupported for rules that need all clips at once; record()
// kResource, kInternal. What is wrong with a clip is in the answer, as in rejects.jsonl.
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
#include "pipeline/build_request.hpp"
#include "pipeline/name_table.hpp"
#include "pipeline/plan.hpp"
#include "records/clip_workers.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// One clip's records, as columns() lists them.
struct LiveRecord {
  std::optional<formats::Reject> reject;  // set: nothing below counts
  std::vector<records::MadeRecord> records;
  std::uint32_t frame_count = 0;
  std::uint32_t token_count = 0;
  // What the index of a cache would say of it, but for duplicates, which take all clips at once.
  formats::RecordFacts facts;
  std::uint8_t flags = 0;  // of its row
};

class LiveClips {
 public:
  // `request` without cache, partition and the like, which mean nothing here. `scratch_folder` is
  // there already, and may be one that all users share.
  [[nodiscard]] static Result<std::unique_ptr<LiveClips>> open(Env& env, BuildRequest request,
                                                               std::string scratch_folder);
  LiveClips(const LiveClips&) = delete;
  LiveClips& operator=(const LiveClips&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return plan_.to_compute.size(); }
  // Of a position below size().
  [[nodiscard]] const corpus::Clip& clip(std::uint64_t position) const {
    return plan_.corpus.clips[plan_.to_compute[position]];
  }
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view full_id) const;

  [[nodiscard]] const std::string& data() const noexcept { return request_.data; }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const formats::Recipe& recipe() const noexcept { return request_.recipe; }
  // As the manifest would describe them, tokens last where there are any.
  [[nodiscard]] const std::vector<formats::ColumnEntry>& columns() const noexcept {
    return columns_;
  }
  [[nodiscard]] const NameTable& speakers() const noexcept { return speakers_; }
  [[nodiscard]] const NameTable& languages() const noexcept { return languages_; }
  [[nodiscard]] const NameTable& datasets() const noexcept { return datasets_; }
  // What a cache of these clips would say of itself, without shards, statistics and an index.
  [[nodiscard]] formats::Manifest manifest() const;
  // Of a position below size(): what is known before its sound is.
  [[nodiscard]] formats::RecordFacts facts(std::uint64_t position) const;
  [[nodiscard]] std::uint32_t thread_count() const noexcept {
    return std::max(request_.run.thread_count, 1U);
  }

  // Of a position below size(). A reject is found out once and then remembered; what the
  // environment did is tried again, but for a source that segments share.
  // `buffers` are reused, whatever is in them, and come back in the answer.
  [[nodiscard]] Result<LiveRecord> record(std::uint64_t position,
                                          std::vector<records::MadeRecord> buffers = {});
  [[nodiscard]] std::optional<formats::Reject> known_reject(std::uint64_t position) const;
  // Positions of the clips that will not have a record when they are asked for again: ascending.
  [[nodiscard]] std::vector<std::uint64_t> rejected() const;

  // So many clips were found at fault, by the plan or by record(): policy drops are none. And how
  // many a build would tolerate.
  [[nodiscard]] std::uint64_t fault_count() const;
  [[nodiscard]] std::uint64_t faults_allowed() const;
  [[nodiscard]] std::optional<formats::Reject> first_fault() const;

 private:
  LiveClips(Env& env, BuildRequest request, std::string scratch_folder);
  [[nodiscard]] Status prepare();
  [[nodiscard]] Status add_tokens(const corpus::Clip& clip, std::vector<std::byte> buffer,
                                  LiveRecord& record) const;
  void describe(const corpus::Clip& clip, LiveRecord& record) const;

  const BuildRequest request_;
  const std::shared_ptr<Env> confined_;  // to DATA
  Env& env_;
  const std::string scratch_folder_;
  Plan plan_;
  std::unordered_map<std::string, std::uint32_t> positions_;  // by full id
  std::vector<formats::ColumnEntry> columns_;
  NameTable speakers_{{}, {}}, languages_{{}, {}}, datasets_{{}, {}};
  std::optional<text::Tokenizer> tokenizer_;  // where there is a column of tokens
  std::optional<records::ClipWorkers> workers_;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, formats::Reject> rejects_;  // by position
};

}  // namespace xtts::pipeline
