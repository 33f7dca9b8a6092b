#include "maintain/copy_records.hpp"

#include <span>

#include "base/convert_floats.hpp"
#include "base/try.hpp"
#include "pipeline/channel_sums.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "pipeline/shard_facts.hpp"

namespace xtts::maintain {
namespace {

class Copier {
 public:
  Copier(const CopyJob& job, store::CacheFolder& to)
      : job_(job),
        sealer_(to, nullptr),
        assembler_(job.column, job.store, 1, [](std::vector<std::byte>) {}) {}

  Result<std::vector<store::JournalShard>> run() {
    const auto& to_compute = job_.clips.plan.to_compute;
    for (std::size_t place = 0; place < to_compute.size(); ++place) {
      if (job_.cancelled && job_.cancelled())
        return Status(StatusCode::kCancelled, "stopped as asked");
      XTTS_TRY(copy(to_compute[place]));
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
    XTTS_ASSIGN(auto stored, job_.from.read_record(job_.column.name, place->position));
    XTTS_ASSIGN(auto details, job_.from.details(place->position));
    const corpus::Clip& planned = job_.clips.plan.corpus.clips[clip];
    pipeline::AssembledRecord record;
    record.id_hash = formats::id_hash(planned.dataset, planned.id);
    record.dataset = planned.dataset;
    record.split = static_cast<std::uint8_t>(planned.split);
    record.length = stored.shape.front();
    record.fill_bits = stored.fill_bits;
    const DType dtype = job_.column.dtype;
    if (stored.dtype == dtype && job_.norm == nullptr) {
      record.rows = std::move(stored.bytes);
    } else {
      record.rows.resize(stored.bytes.size() / size_bytes(stored.dtype) * size_bytes(dtype));
      change(stored, dtype, record.rows);
    }
    if (pipeline::has_sums(job_.column)) {
      pipeline::sum_channels(record.rows, job_.column.dtype, job_.column.shape.back(), record.sums);
    }
    record.facts = job_.column.id == pipeline::kMainId
                       ? pipeline::facts_of_sound(std::move(details))
                       : pipeline::facts_beside(details);
    return assembler_.add(std::move(record));
  }

  // Another dtype only of float32: whoever widens half floats has made no float32 features.
  void change(const reader::RecordData& stored, DType dtype, std::span<std::byte> rows) const {
    if (job_.norm != nullptr) return job_.norm->apply(stored.bytes, stored.dtype, rows, dtype);
    narrow_floats(numbers_in<float>(std::span(stored.bytes)), dtype, rows);
  }

  Status end_shard() {
    pipeline::SealJob job;
    XTTS_ASSIGN(auto image, assembler_.end_shard());
    if (image) job.images.push_back({job_.column.name, next_ordinal_++, std::move(image)});
    job.entry.planned_shard = next_planned_++;
    return sealer_.submit(std::move(job));
  }

  const CopyJob& job_;
  pipeline::Sealer sealer_;
  pipeline::ShardAssembler assembler_;
  std::uint64_t next_ordinal_ = 0;
  std::uint64_t next_planned_ = 0;
};

}  // namespace

Result<std::vector<store::JournalShard>> copy_records(const CopyJob& job, store::CacheFolder& to) {
  return Copier(job, to).run();
}

}  // namespace xtts::maintain
