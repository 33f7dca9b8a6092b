#include "pipeline/compute_sound_columns.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <new>

#include "base/option_names.hpp"
#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/clip_id.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/disk_read_ahead.hpp"
#include "pipeline/ordered_pipeline.hpp"
#include "pipeline/sealed_records.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "reader/repair_advice.hpp"
#include "records/clip_rules.hpp"
#include "records/clip_workers.hpp"
#include "records/columns.hpp"
#include "records/pool.hpp"

namespace xtts::pipeline {
namespace {

// How the memory is divided: the plan, two shard images a column, records in flight, and equal
// shares of the rest for the workers.
struct MemoryPlan {
  std::size_t live_clips = 1;
  std::uint64_t worker_bytes = 0;

  MemoryPlan(const RunConfig& run, std::uint64_t planned_bytes,
             std::span<const formats::ColumnSpec> columns) {
    std::uint64_t record = 1;
    std::uint64_t blocks = 0;
    for (const formats::ColumnSpec& column : columns) {
      record += column.record_bytes();
      blocks += column.record_bytes() * column.geometry().records_per_block;
    }
    const std::uint64_t images = 2 * record * records::clips_per_shard(columns);
    const std::uint64_t wanted = 4 * std::uint64_t{run.thread_count};
    live_clips = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(run.memory_bytes / 8 / record, 1, wanted));
    const std::uint64_t used = planned_bytes + images + blocks + live_clips * record;
    const std::uint64_t rest = run.memory_bytes > used ? run.memory_bytes - used : 0;
    worker_bytes =
        std::clamp(rest / run.thread_count, records::kWorkerBytesMin, records::kWorkerBytesMax);
  }
};

// Completes an outcome whose facts were copied. The corpus section's rules may have changed since
// the record was stored.
void judge_copied(const formats::Recipe& recipe, const corpus::Clip& clip,
                  records::ClipOutcome& outcome) {
  const formats::RecordFacts& facts = outcome.facts;
  outcome.frame_count_before_cut = facts.frame_count_before_cut.value_or(0);
  if (const auto rate_hz = facts.source_rate_hz.value_or(0); rate_hz > 0)
    outcome.source_seconds = static_cast<double>(facts.source_frame_count.value_or(0)) / rate_hz;
  if (auto refusal = records::refusal_of(facts, recipe.corpus, has_text(clip))) {
    outcome.reject = records::reject_of(clip, refusal->kind, std::move(refusal->reason));
    outcome.reject->content_digest = facts.content_digest;
  }
}

// Copies the record of a clip whose sound the published cache holds by another id. The result is as
// ClipWorker::process would make it. Any number of threads. Failures: those of reading the record;
// the clip can still be decoded then.
Result<records::ClipOutcome> copy_record(reader::CacheView& from, std::uint64_t position,
                                         std::span<const formats::ColumnSpec> columns) {
  records::ClipOutcome outcome;
  XTTS_ASSIGN(auto details, from.details(position));
  outcome.facts = facts_of_sound(std::move(details));
  for (const formats::ColumnSpec& column : columns) {
    XTTS_ASSIGN(auto stored,
                reader::with_repair(from.read_record(column.name, position), from.path()));
    if (records::has_sums(column))
      dsp::sum_channels(stored.bytes, column.dtype, column.shape.back(), outcome.sums);
    outcome.records.push_back({.length = stored.shape.front(),
                               .fill_bits = stored.fill_bits,
                               .rows = std::move(stored.bytes)});
  }
  return outcome;
}

class SoundColumns final : OrderedWork {
 public:
  SoundColumns(const SoundColumnsJob& job, store::CacheFolder& folder, store::Journal& journal,
               BuildObserver& observer)
      : job_(job),
        folder_(folder),
        sounds_(job.plan.sounds),
        observer_(observer),
        memory_(job.request.run, job.plan.corpus.held_bytes, job.columns),
        per_shard_(records::clips_per_shard(job.columns)),
        buffers_(job.columns.size()),
        workers_({.env = job.env,
                  .recipe = job.request.recipe,
                  .isa = job.request.isa,
                  .engines = job.engines,
                  .corpus = job.plan.corpus,
                  .make_decoder = job.request.run.make_decoder,
                  .cancelled = job.request.run.cancelled,
                  .scratch_folder = store::build_folder(folder.path()),
                  .memory_bytes = static_cast<std::size_t>(memory_.worker_bytes)},
                 job.plan.to_compute),
        outcomes_(memory_.live_clips, records::ClipOutcome{}),
        sealer_(folder, &journal),
        journalled_(job.sealed.whole()),
        next_ordinal_(job.first_ordinal) {
    for (std::size_t column = 0; column < job.columns.size(); ++column) {
      assemblers_.emplace_back(job.columns[column], job.request.recipe.storage.store,
                               job.generation, [this, column](std::vector<std::byte> rows) {
                                 buffers_[column].give_back(std::move(rows));
                               });
    }
  }

  Result<SoundColumnsResult> run() {
    progress_.total_count = job_.plan.to_compute.size();
    next_ = std::min<std::size_t>(journalled_.size() * per_shard_, job_.plan.to_compute.size());
    shard_.planned_shard = journalled_.size();
    for (const auto& shard : journalled_) {
      if (!shard.sealed.empty()) ++next_ordinal_;
      progress_.reject_count += shard.rejects.size();
    }
    progress_.done_count = next_;
    observer_.progress(progress_);
    XTTS_TRY(remember_sealed_sounds());

    if (next_ < job_.plan.to_compute.size()) {
      XTTS_TRY(workers_.start());
      if (sources_rotate())
        read_ahead_.emplace(job_.env, job_.plan, next_,
                            [this] { return stop_.load() || observer_.cancelled(); });
      const std::size_t left = job_.plan.to_compute.size() - next_;
      const auto threads = static_cast<std::uint32_t>(std::min<std::size_t>(
          job_.request.run.thread_count, left));  // more threads would find no clip
      (void)run_ordered(*this, threads, outcomes_.size());
      read_ahead_.reset();
    }
    auto sealed = sealer_.finish();
    if (!status_.ok()) return status_;
    if (!sealed) return sealed.status();
    if (observer_.cancelled()) return Status(StatusCode::kCancelled, "stopped as asked");
    SoundColumnsResult result;
    result.shards = std::move(journalled_);
    for (auto& shard : *sealed) result.shards.push_back(std::move(shard));
    result.times = workers_.times();
    result.times.write_s = sealer_.busy_seconds();
    return result;
  }

 private:
  [[nodiscard]] bool sources_rotate() const {
    if (job_.request.run.source_disk == SourceDisk::kRotating) return true;
    const corpus::Clip& clip = job_.plan.corpus.clips[job_.plan.to_compute[next_]];
    const auto storage = job_.env.storage(job_.plan.corpus.path_of(clip));
    return storage && storage->kind == StorageKind::kRotating;
  }

  std::optional<std::size_t> next() override {
    if (next_ == job_.plan.to_compute.size() || stop_.load() || observer_.cancelled()) return {};
    return next_++;
  }

  // Turns an exception into a failure, for it would end the whole run. Only memory may throw here.
  void compute(std::size_t place) override {
    Result<records::ClipOutcome>& outcome = outcomes_[place % outcomes_.size()];
    if (read_ahead_) read_ahead_->wait_for(place);
    try {
      outcome = make(place);
    } catch (const std::bad_alloc&) {
      outcome = Status(StatusCode::kResource,
                       "out of memory: run again with a lower " + option("memory"));
    }
    if (!outcome) stop_ = true;
  }

  Result<records::ClipOutcome> make(std::size_t place) {
    const std::uint32_t number = job_.plan.to_compute[place];
    const corpus::Clip& clip = job_.plan.corpus.clips[number];
    // If the record to copy is damaged, the clip is decoded: its source is at hand.
    if (auto copied = copy(place, job_.plan.clips[number])) {
      if (!copied->reject) judge_copied(job_.request.recipe, clip, *copied);
      return std::move(*copied);
    }
    return workers_.process(clip, take_buffers());
  }

  std::optional<records::ClipOutcome> copy(std::size_t place, const PlannedClip& clip) {
    if (job_.sealed.has(place)) {
      if (auto copied = job_.sealed.copy(job_.env, folder_.path(), place))
        return std::move(*copied);
    }
    if (!clip.copied_from) return std::nullopt;
    auto copied = copy_record(*job_.previous, *clip.copied_from, job_.columns);
    return copied ? std::optional(std::move(*copied)) : std::nullopt;
  }

  void commit(std::size_t place) override {
    Result<records::ClipOutcome> outcome =
        std::exchange(outcomes_[place % outcomes_.size()], records::ClipOutcome{});
    if (!status_.ok() || observer_.cancelled()) return;
    status_ = outcome ? accept(place, std::move(*outcome)) : outcome.status();
    if (!status_.ok()) stop_ = true;
  }

  Status accept(std::size_t place, records::ClipOutcome outcome) {
    const corpus::Clip& clip = job_.plan.corpus.clips[job_.plan.to_compute[place]];
    ++progress_.done_count;
    progress_.source_bytes += outcome.source_bytes;
    progress_.sound_seconds += outcome.source_seconds;
    if (!outcome.reject) outcome.reject = refuse_duplicate(job_.plan.to_compute[place], outcome);
    if (outcome.reject) {
      ++progress_.reject_count;
      shard_.rejects.push_back(std::move(*outcome.reject));
      for (std::size_t column = 0; column < outcome.records.size(); ++column)
        buffers_[column].give_back(std::move(outcome.records[column].rows));
    } else {
      XTTS_TRY(add(clip, std::move(outcome)));
    }
    if ((place + 1) % per_shard_ == 0 || place + 1 == job_.plan.to_compute.size())
      XTTS_TRY(end_shard());
    observer_.progress(progress_);
    return {};
  }

  [[nodiscard]] bool drops_duplicates() const {
    return job_.request.recipe.corpus.duplicates == formats::OddClip::kDrop;
  }

  // Remembers the sounds that an interrupted build sealed. They lie in the order of the plan.
  Status remember_sealed_sounds() {
    if (!drops_duplicates()) return {};
    SealedRecords records(job_.env, folder_.path(), journalled_);
    std::size_t place = 0;
    for (;;) {
      XTTS_ASSIGN(const auto record, records.next());
      if (!record) return {};
      const auto is_it = [&](std::uint32_t clip) {
        const auto& candidate = job_.plan.corpus.clips[clip];
        return formats::id_hash(candidate.dataset, candidate.id) == record->id_hash;
      };
      while (place < next_ && !is_it(job_.plan.to_compute[place])) ++place;
      if (place < next_ && record->facts.pcm_digest)
        (void)sounds_.add(*record->facts.pcm_digest, job_.plan.to_compute[place]);
    }
  }

  std::optional<formats::Reject> refuse_duplicate(std::uint32_t clip,
                                                  const records::ClipOutcome& outcome) {
    if (!drops_duplicates() || !outcome.facts.pcm_digest) return std::nullopt;
    const auto first = sounds_.add(*outcome.facts.pcm_digest, clip);
    if (!first) return std::nullopt;
    return records::reject_of(
        job_.plan.corpus.clips[clip], formats::RejectClass::kPolicy,
        records::refusal_of_duplicate(full_id(job_.plan.corpus.clips[*first])));
  }

  std::vector<RecordRows> take_buffers() {
    std::vector<RecordRows> buffers(buffers_.size());
    for (std::size_t column = 0; column < buffers.size(); ++column)
      buffers[column].rows = buffers_[column].take();
    return buffers;
  }

  Status add(const corpus::Clip& clip, records::ClipOutcome outcome) {
    add_facts_of_lists(clip, outcome.facts);
    const formats::RecordFacts facts = facts_of_sound(std::move(outcome.facts));
    for (std::size_t column = assemblers_.size(); column-- > 0;) {  // the main one, 0, comes last
      AssembledRecord record;
      record.made = std::move(outcome.records[column]);
      if (records::has_sums(job_.columns[column])) record.sums = std::move(outcome.sums);
      record.facts = column == records::kMainId ? facts : facts_of_further_column(facts);
      XTTS_TRY(assemblers_[column].add(std::move(record)));
    }
    return {};
  }

  // Each record lies in all columns, so either all of them have an image or none.
  Status end_shard() {
    SealJob job;
    for (std::size_t column = 0; column < assemblers_.size(); ++column) {
      XTTS_ASSIGN(auto image, assemblers_[column].end_shard());
      if (image) job.images.push_back({job_.columns[column].name, next_ordinal_, std::move(image)});
    }
    if (!job.images.empty()) ++next_ordinal_;
    const std::uint64_t next_planned = shard_.planned_shard + 1;
    job.entry = std::exchange(shard_, {});
    shard_.planned_shard = next_planned;
    return sealer_.submit(std::move(job));
  }

  const SoundColumnsJob& job_;
  store::CacheFolder& folder_;
  KnownSounds sounds_;  // if duplicates are dropped
  BuildObserver& observer_;
  const MemoryPlan memory_;
  // Reusing the records' buffers saves mapping and faulting in a quarter megabyte for each clip.
  const std::uint64_t per_shard_;
  std::deque<records::Pool<std::vector<std::byte>>> buffers_;  // of each column
  records::ClipWorkers workers_;
  std::optional<ReadAhead> read_ahead_;                 // if sources lie on a rotating disk
  std::vector<Result<records::ClipOutcome>> outcomes_;  // of the clips in flight, by place
  Sealer sealer_;
  std::vector<ShardAssembler> assemblers_;  // of each column
  std::vector<store::JournalShard> journalled_;

  std::size_t next_ = 0;  // place in to_compute; only next() uses it
  std::uint64_t next_ordinal_;
  store::JournalShard shard_;  // the one being filled
  BuildProgress progress_;
  Status status_;  // of commit()
  std::atomic<bool> stop_ = false;
};

}  // namespace

Result<SoundColumnsResult> compute_sound_columns(const SoundColumnsJob& job,
                                                 store::CacheFolder& folder,
                                                 store::Journal& journal, BuildObserver& observer) {
  return SoundColumns(job, folder, journal, observer).run();
}

}  // namespace xtts::pipeline
