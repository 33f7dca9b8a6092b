#include "maintain/copy_records.hpp"

#include <bit>

#include "base/check_cancelled.hpp"
#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/clip_id.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "reader/cache_view.hpp"
#include "reader/repair_advice.hpp"
#include "records/columns.hpp"
#include "records/value_rules.hpp"
#include "report/reasons.hpp"

namespace xtts::maintain {
namespace {

constexpr std::size_t kClipsNamed = 5;

class Copier {
 public:
  Copier(const CopyJob& job, store::CacheFolder& to, ClipWarnings& warnings)
      : job_(job),
        warnings_(warnings),
        sealer_(to, nullptr),
        assembler_(job.column, job.store, job.generation) {}

  Result<std::vector<store::JournalShard>> run() {
    const auto& to_compute = job_.clips.plan.to_compute;
    for (std::size_t place = 0; place < to_compute.size(); ++place) {
      XTTS_TRY(check_cancelled(job_.cancelled));
      XTTS_ASSIGN(const auto refusal, copy(to_compute[place]));
      if (refusal) return name_the_unfit(place, *refusal);
      if ((place + 1) % job_.clips_per_shard == 0 || place + 1 == to_compute.size())
        XTTS_TRY(end_shard());
      if (job_.progress) job_.progress(place + 1, to_compute.size());
    }
    return sealer_.finish();
  }

 private:
  // Returns why the column cannot hold the record, if it cannot.
  Result<std::optional<formats::Reason>> copy(std::uint32_t clip) {
    const std::optional<formats::Reason> no_refusal;
    const auto place = job_.clips.places[clip];
    if (!place) return no_refusal;
    XTTS_ASSIGN(const auto location, job_.from.location(job_.column.id, place->position));
    if (location.block_row == formats::kNoRecord) return no_refusal;  // added columns may lack it
    XTTS_ASSIGN(auto stored, stored_record(place->position));
    XTTS_ASSIGN(auto details, job_.from.details(place->position));
    pipeline::AssembledRecord record;
    record.made.length = stored.shape.front();
    record.made.fill_bits = stored.fill_bits;
    records::ValueVerdict verdict = change(std::move(stored), record.made.rows);
    if (verdict.refusal) return std::move(verdict.refusal);
    if (records::has_sums(job_.column)) {
      dsp::sum_channels(record.made.rows, job_.column.dtype, job_.column.shape.back(), record.sums);
    }
    if (job_.column.id == records::kMainId) {
      record.facts = pipeline::facts_of_sound(std::move(details));
      auto& warnings = record.facts.warnings;
      if (verdict.warning) warnings.push_back(std::move(*verdict.warning));
      if (const auto of_others = warnings_.find(clip); of_others != warnings_.end())
        warnings.insert(warnings.end(), of_others->second.begin(), of_others->second.end());
    } else {
      record.facts = pipeline::facts_of_further_column(details);
      // Columns are copied from the last to the first; their warnings are stored in the order of
      // columns.
      if (verdict.warning) {
        auto& of_clip = warnings_[clip];
        of_clip.insert(of_clip.begin(), std::move(*verdict.warning));
      }
    }
    XTTS_TRY(assembler_.add(std::move(record)));
    return no_refusal;
  }

  Result<reader::RecordData> stored_record(std::uint64_t position) {
    return reader::with_repair(job_.from.read_record(job_.column.name, position), job_.from.path());
  }

  // Only float32 changes its dtype: widening half floats would not make float32 features.
  records::ValueVerdict change(reader::RecordData stored, std::vector<std::byte>& rows) const {
    if (stored.dtype == job_.column.dtype && job_.norm == nullptr) {
      rows = std::move(stored.bytes);
      return {};
    }
    const auto fill = std::bit_cast<float>(stored.fill_bits);
    auto of_fill = records::check_values(job_.column.name, {&fill, 1}, job_.column.dtype);
    if (of_fill.refusal) return of_fill;
    return records::change_rows(job_.column.name, stored.bytes, stored.dtype, job_.norm,
                                job_.column.dtype, rows);
  }

  // Writes nothing more, but tests more records: they show whether one clip is odd or the whole
  // corpus.
  Status name_the_unfit(std::size_t first_place, const formats::Reason& first) {
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
      if (!change(std::move(stored), rows).refusal) continue;
      const corpus::Clip& clip = job_.clips.plan.corpus.clips[to_compute[place]];
      named += (count == 0 ? "" : ", ") + full_id(clip);
      ++count;
    }
    const bool is_all = place == to_compute.size();
    return {StatusCode::kInvalidArgument,
            formatted("{}. Nothing was published. The same is true of {}{} of {}: {}",
                      report::words_of(first), is_all ? "" : "at least ", count,
                      counted(to_compute.size(), "clip", "clips"), named)};
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
