#include "maintain/copy_records.hpp"

#include <bit>
#include <span>

#include "base/check_cancelled.hpp"
#include "base/try.hpp"
#include "pipeline/channel_sums.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "pipeline/shard_facts.hpp"
#include "pipeline/value_rules.hpp"
#include "reader/cache_view.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::maintain {
namespace {

constexpr std::size_t kClipsNamed = 5;

class Copier {
 public:
  Copier(const CopyJob& job, store::CacheFolder& to, ClipWarnings& warnings)
      : job_(job),
        warnings_(warnings),
        sealer_(to, nullptr),
        assembler_(job.column, job.store, job.generation, [](std::vector<std::byte>) {}) {}

  Result<std::vector<store::JournalShard>> run() {
    const auto& to_compute = job_.clips.plan.to_compute;
    for (std::size_t place = 0; place < to_compute.size(); ++place) {
      XTTS_TRY(check_cancelled(job_.cancelled));
      if (const Status status = copy(to_compute[place]); !status.ok()) {
        if (!is_unfit(status)) return status;
        return name_the_unfit(place, status);
      }
      if ((place + 1) % job_.clips_per_shard == 0 || place + 1 == to_compute.size())
        XTTS_TRY(end_shard());
      if (job_.progress) job_.progress(place + 1, to_compute.size());
    }
    return sealer_.finish();
  }

 private:
  Status copy(std::uint32_t clip) {
    const auto place = job_.clips.places[clip];
    if (!place) return {};
    XTTS_ASSIGN(const auto location, job_.from.location(job_.column.id, place->position));
    if (location.block_row == formats::kNoRecord) return {};  // of an added column
    XTTS_ASSIGN(auto stored, stored_record(place->position));
    XTTS_ASSIGN(auto details, job_.from.details(place->position));
    const corpus::Clip& planned = job_.clips.plan.corpus.clips[clip];
    pipeline::AssembledRecord record;
    record.id_hash = formats::id_hash(planned.dataset, planned.id);
    record.dataset = planned.dataset;
    record.split = static_cast<std::uint8_t>(planned.split);
    record.length = stored.shape.front();
    record.fill_bits = stored.fill_bits;
    XTTS_ASSIGN(const auto warning, change(std::move(stored), record.rows));
    if (pipeline::has_sums(job_.column)) {
      pipeline::sum_channels(record.rows, job_.column.dtype, job_.column.shape.back(), record.sums);
    }
    if (job_.column.id == pipeline::kMainId) {
      record.facts = pipeline::facts_of_sound(std::move(details));
      pipeline::add_warning(warning, record.facts);
      if (const auto of_others = warnings_.find(clip); of_others != warnings_.end())
        pipeline::add_warning(of_others->second, record.facts);
    } else {
      record.facts = pipeline::facts_beside(details);
      keep_in_front(warning, clip);
    }
    return assembler_.add(std::move(record));
  }

  Result<reader::RecordData> stored_record(std::uint64_t position) {
    return reader::with_repair(job_.from.read_record(job_.column.name, position), job_.from.path());
  }

  // Another dtype only of float32: whoever widens half floats has made no float32 features.
  Result<pipeline::ValueWarning> change(reader::RecordData stored,
                                        std::vector<std::byte>& rows) const {
    if (stored.dtype == job_.column.dtype && job_.norm == nullptr) {
      rows = std::move(stored.bytes);
      return pipeline::ValueWarning();
    }
    const auto fill = std::bit_cast<float>(stored.fill_bits);
    XTTS_TRY(pipeline::check_values(job_.column.name, {&fill, 1}, job_.column.dtype).status());
    return pipeline::change_rows(job_.column.name, stored.bytes, stored.dtype, job_.norm,
                                 job_.column.dtype, rows);
  }

  // Columns come from the last to the first, and their warnings in their order.
  void keep_in_front(const pipeline::ValueWarning& warning, std::uint32_t clip) {
    if (!warning) return;
    std::string& lines = warnings_[clip];
    lines = lines.empty() ? *warning : *warning + '\n' + lines;
  }

  static bool is_unfit(const Status& status) {
    return status.code() == StatusCode::kBadInput || status.code() == StatusCode::kUnsupported;
  }

  // Nothing more is written; some more of them show whether it is one odd clip or the whole corpus.
  Status name_the_unfit(std::size_t first_place, const Status& first) {
    const auto& to_compute = job_.clips.plan.to_compute;
    std::string named;
    std::size_t count = 0;
    std::vector<std::byte> rows;
    std::size_t place = first_place;
    for (; place < to_compute.size() && count < kClipsNamed; ++place) {
      XTTS_TRY(check_cancelled(job_.cancelled));
      const auto where = job_.clips.places[to_compute[place]];
      if (!where) continue;
      XTTS_ASSIGN(auto stored, stored_record(where->position));
      const auto changed = change(std::move(stored), rows);
      if (changed) continue;
      if (!is_unfit(changed.status())) return changed.status();
      const corpus::Clip& clip = job_.clips.plan.corpus.clips[to_compute[place]];
      named += (count == 0 ? "" : ", ") + pipeline::full_id(clip);
      ++count;
    }
    const bool is_all = place == to_compute.size();
    return {StatusCode::kInvalidArgument,
            first.message() + ". Nothing was published. So it is with " +
                (is_all ? "" : "at least ") + std::to_string(count) + " of " +
                std::to_string(to_compute.size()) + " clips: " + named};
  }

  Status end_shard() {
    pipeline::SealJob job;
    XTTS_ASSIGN(auto image, assembler_.end_shard());
    if (image) job.images.push_back({job_.column.name, next_ordinal_++, std::move(image)});
    job.entry.planned_shard = next_planned_++;
    return sealer_.submit(std::move(job));
  }

  const CopyJob& job_;
  ClipWarnings& warnings_;
  pipeline::Sealer sealer_;
  pipeline::ShardAssembler assembler_;
  std::uint64_t next_ordinal_ = 0;
  std::uint64_t next_planned_ = 0;
};

}  // namespace

Result<std::vector<store::JournalShard>> copy_records(const CopyJob& job, store::CacheFolder& to,
                                                      ClipWarnings& warnings) {
  return Copier(job, to, warnings).run();
}

}  // namespace xtts::maintain
