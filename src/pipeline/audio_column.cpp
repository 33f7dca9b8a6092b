#include "pipeline/audio_column.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "base/try.hpp"
#include "pipeline/byte_budget.hpp"
#include "pipeline/clip_worker.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"

namespace xtts::pipeline {
namespace {

// Buffers for records, so that a quarter megabyte is not mapped and faulted in anew for every clip.
class BufferPool {
 public:
  std::vector<std::byte> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    auto buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give_back(std::vector<std::byte> buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> free_;
};

struct Item {
  std::size_t place = 0;  // in plan.to_compute
  Result<ClipOutcome> outcome = ClipOutcome{};
};

// How the memory is dealt out: two shard images, records in flight, the rest for PCM.
struct MemoryPlan {
  std::size_t live_clips = 1;
  std::uint64_t pcm_bytes = 0;

  MemoryPlan(const RunConfig& run, const formats::ColumnSpec& column) {
    const std::uint64_t record = std::max<std::uint64_t>(column.record_bytes(), 1);
    const std::uint64_t images = 2 * record * column.geometry().clips_per_shard();
    const std::uint64_t wanted = 4 * std::uint64_t{run.thread_count};
    live_clips = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(run.memory_bytes / 8 / record, 1, wanted));
    const std::uint64_t block = record * column.geometry().records_per_block;
    const std::uint64_t used = images + block + live_clips * record;
    pcm_bytes = run.memory_bytes > used ? run.memory_bytes - used : 0;
    pcm_bytes = std::max(pcm_bytes, run.memory_bytes / 8);
  }
};

class AudioColumn {
 public:
  AudioColumn(const AudioColumnJob& job, store::CacheFolder& folder,
              store::Journal::Opened& journal, BuildObserver& observer)
      : job_(job),
        observer_(observer),
        memory_(job.run, job.column),
        budget_(memory_.pcm_bytes),
        sealer_(folder, journal.journal.get()),
        assembler_(job.column, job.generation,
                   [this](std::vector<std::byte> rows) { buffers_.give_back(std::move(rows)); }),
        journalled_(journal.shards),
        next_ordinal_(job.first_ordinal) {}

  Result<AudioColumnResult> run() {
    progress_.total_count = job_.plan.to_compute.size();
    const std::size_t per_shard = job_.column.geometry().clips_per_shard();
    next_ = std::min(journalled_.size() * per_shard, job_.plan.to_compute.size());
    shard_.planned_shard = journalled_.size();
    for (const auto& shard : journalled_) {
      if (shard.sealed) ++next_ordinal_;
      progress_.reject_count += shard.rejects.size();
    }
    progress_.done_count = next_;
    observer_.progress(progress_);

    if (next_ < job_.plan.to_compute.size()) run_pipeline();
    auto sealed = sealer_.finish();
    if (!status_.ok()) return status_;
    if (!sealed) return sealed.status();
    if (observer_.cancelled()) return Status(StatusCode::kCancelled, "stopped as asked");
    AudioColumnResult result;
    result.shards = std::move(journalled_);
    for (auto& shard : *sealed) result.shards.push_back(std::move(shard));
    for (const auto& worker : workers_) {
      if (worker) result.times.add(worker->times());
    }
    result.times.write_s = sealer_.busy_seconds();
    return result;
  }

 private:
  using ItemPointer = std::shared_ptr<Item>;  // filters copy what they hand on

  void run_pipeline() {
    const tbb::global_control parallelism(tbb::global_control::max_allowed_parallelism,
                                          job_.run.thread_count);
    tbb::task_arena arena(static_cast<int>(job_.run.thread_count));
    arena.execute([&] {
      tbb::parallel_pipeline(memory_.live_clips,
                             tbb::make_filter<void, std::size_t>(
                                 tbb::filter_mode::serial_in_order,
                                 [this](tbb::flow_control& control) { return admit(control); }) &
                                 tbb::make_filter<std::size_t, ItemPointer>(
                                     tbb::filter_mode::parallel,
                                     [this](std::size_t place) { return compute(place); }) &
                                 tbb::make_filter<ItemPointer, void>(
                                     tbb::filter_mode::serial_in_order,
                                     [this](const ItemPointer& item) { commit(*item); }));
    });
  }

  std::size_t admit(tbb::flow_control& control) {
    if (next_ == job_.plan.to_compute.size() || stop_.load() || observer_.cancelled()) {
      control.stop();
      return 0;
    }
    return next_++;
  }

  // An exception that left a filter would cancel the whole graph: memory is the one thing that may
  // throw here.
  ItemPointer compute(std::size_t place) {
    auto item = std::make_shared<Item>();
    item->place = place;
    try {
      item->outcome = process(job_.plan.corpus.clips[job_.plan.to_compute[place]]);
    } catch (const std::bad_alloc&) {
      item->outcome = Status(StatusCode::kResource,
                             "out of memory: run the same command with a lower --memory");
    }
    if (!item->outcome) stop_ = true;
    return item;
  }

  Result<ClipOutcome> process(const corpus::Clip& clip) {
    auto& worker = workers_.local();
    if (!worker) {
      XTTS_ASSIGN(worker, ClipWorker::create(job_.env, job_.recipe, job_.isa, job_.plan.data_path));
    }
    // Compressed speech grows to about sixteen times its size as float PCM; nothing is known better
    // before decoding.
    const ByteBudget::Lease lease = budget_.take(16 * clip.source_bytes);
    return worker->process(clip, buffers_.take());
  }

  // In planned order, one at a time.
  void commit(Item& item) {
    if (!status_.ok() || observer_.cancelled()) return;
    status_ = item.outcome ? accept(item.place, std::move(*item.outcome)) : item.outcome.status();
    if (!status_.ok()) stop_ = true;
  }

  Status accept(std::size_t place, ClipOutcome outcome) {
    const corpus::Clip& clip = job_.plan.corpus.clips[job_.plan.to_compute[place]];
    ++progress_.done_count;
    progress_.source_bytes += outcome.source_bytes;
    progress_.sound_seconds += outcome.source_seconds;
    if (outcome.reject) {
      ++progress_.reject_count;
      shard_.rejects.push_back(std::move(*outcome.reject));
      buffers_.give_back(std::move(outcome.rows));
    } else {
      XTTS_TRY(assembler_.add(record_of(clip, std::move(outcome))));
    }
    const std::size_t per_shard = job_.column.geometry().clips_per_shard();
    if ((place + 1) % per_shard == 0 || place + 1 == job_.plan.to_compute.size())
      XTTS_TRY(end_shard());
    observer_.progress(progress_);
    return {};
  }

  static AssembledRecord record_of(const corpus::Clip& clip, ClipOutcome outcome) {
    AssembledRecord record;
    record.id_hash = formats::id_hash(clip.dataset, clip.id);
    record.dataset = clip.dataset;
    record.split = static_cast<std::uint8_t>(clip.split);
    record.length = outcome.frame_count;
    record.fill_bits = outcome.fill_bits;
    record.rows = std::move(outcome.rows);
    record.sums = std::move(outcome.sums);
    record.facts = std::move(outcome.facts);
    record.facts.id = clip.id;
    if (!clip.dataset.empty()) record.facts.dataset = clip.dataset;
    record.facts.split = record.split;
    if (!clip.speaker.empty()) record.facts.speaker = clip.speaker;
    if (!clip.language.empty()) record.facts.language = clip.language;
    record.facts.source_path = clip.source;
    return record;
  }

  Status end_shard() {
    SealJob job;
    job.column = job_.column.name;
    XTTS_ASSIGN(job.image, assembler_.end_shard());
    if (job.image) job.ordinal = next_ordinal_++;
    const std::uint64_t next_planned = shard_.planned_shard + 1;
    job.entry = std::exchange(shard_, {});
    shard_.planned_shard = next_planned;
    return sealer_.submit(std::move(job));
  }

  const AudioColumnJob& job_;
  BuildObserver& observer_;
  const MemoryPlan memory_;
  ByteBudget budget_;
  BufferPool buffers_;
  tbb::enumerable_thread_specific<std::unique_ptr<ClipWorker>> workers_;
  Sealer sealer_;
  ShardAssembler assembler_;
  std::vector<store::JournalShard> journalled_;

  std::size_t next_ = 0;  // of to_compute; touched by the first filter only
  std::uint64_t next_ordinal_;
  store::JournalShard shard_;  // the one being filled
  BuildProgress progress_;
  Status status_;  // of the last filter
  std::atomic<bool> stop_ = false;
};

}  // namespace

Result<AudioColumnResult> compute_audio_column(const AudioColumnJob& job,
                                               store::CacheFolder& folder,
                                               store::Journal::Opened& journal,
                                               BuildObserver& observer) {
  return AudioColumn(job, folder, journal, observer).run();
}

}  // namespace xtts::pipeline
