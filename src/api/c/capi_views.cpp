#include "api/c/capi_views.hpp"

#include <algorithm>
#include <utility>

#include "base/no_cancellation.hpp"

namespace xtts::capi {
namespace {

static_assert(XTTS_FLOAT32 == static_cast<int>(xtts::DType::kFloat32));
static_assert(XTTS_DEVICE_CPU == static_cast<int>(xtts::DeviceKind::kCpu));
static_assert(XTTS_DEVICE_CUDA == static_cast<int>(xtts::DeviceKind::kCuda));
static_assert(XTTS_INT64 == static_cast<int>(xtts::DType::kInt64));

void release_batch(xtts_batch* batch) {
  const xtts::NoCancellation no_cancellation;
  delete static_cast<HeldBatch*>(batch->private_data);
  *batch = {};
}

void release_record(xtts_record* record) {
  const xtts::NoCancellation no_cancellation;
  delete static_cast<xtts::Record*>(record->private_data);
  *record = {};
}

void release_statistics(xtts_statistics* statistics) {
  delete static_cast<xtts::ColumnStatistics*>(statistics->private_data);
  *statistics = {};
}

void release_clip(xtts_clip* clip) {
  delete static_cast<xtts::ClipInfo*>(clip->private_data);
  *clip = {};
}

// Holds the memory of a reader's texts.
struct HeldTexts {
  xtts::ReaderStats stats;
  std::vector<const char*> failures;
};

void release_texts(xtts_reader_texts* texts) {
  delete static_cast<HeldTexts*>(texts->private_data);
  *texts = {};
}

}  // namespace

const HeldBatch* held_by(const xtts_batch* batch) {
  return batch == nullptr ? nullptr : static_cast<const HeldBatch*>(batch->private_data);
}

void show_clip(xtts::ClipInfo found, xtts_clip& out) {
  auto held = std::make_unique<xtts::ClipInfo>(std::move(found));
  out = {.id = held->id.c_str(),
         .dataset = held->dataset.c_str(),
         .split = held->split.c_str(),
         .speaker = held->speaker.c_str(),
         .language = held->language.c_str(),
         .text = held->text.c_str(),
         .text_normalized = held->text_normalized.c_str(),
         .duration_s = held->duration_s,
         .frame_count = held->frame_count,
         .token_count = held->token_count,
         .release = release_clip,
         .private_data = nullptr};
  out.private_data = held.release();
}

void show_texts(xtts::ReaderStats stats, xtts_reader_texts& out) {
  auto held = std::make_unique<HeldTexts>();
  held->stats = std::move(stats);
  for (const std::string& text : held->stats.first_failures) held->failures.push_back(text.c_str());
  out = {.notice = held->stats.notice.c_str(),
         .storage = held->stats.storage.c_str(),
         .reading = held->stats.reading.c_str(),
         .failures = held->failures.data(),
         .failure_count = held->failures.size(),
         .release = release_texts,
         .private_data = nullptr};
  out.private_data = held.release();
}

void show_statistics(xtts::ColumnStatistics found, xtts_statistics& out) {
  auto held = std::make_unique<xtts::ColumnStatistics>(std::move(found));
  out.means = held->mean.data();
  out.deviations = held->deviation.data();
  out.channel_count = held->mean.size();
  out.frame_count = held->frame_count;
  out.is_baked = held->is_baked ? 1 : 0;
  out.release = release_statistics;
  out.private_data = held.release();
}

Status show_record(xtts::Result<xtts::Record> record, xtts_record& out) {
  if (!record.ok()) return record.status();
  auto held = std::make_unique<xtts::Record>(std::move(*record));
  out.dtype = static_cast<std::int32_t>(held->dtype());
  out.dimension_count = static_cast<std::int32_t>(held->shape().size());
  std::ranges::copy(held->shape(), out.shape);
  out.data = held->bytes().data();
  out.data_bytes = held->bytes().size();
  out.padding = held->padding();
  out.release = release_record;
  out.private_data = held.release();
  return {};
}

void show_batch(std::unique_ptr<HeldBatch> held, xtts_batch& out) {
  for (const xtts::BatchColumn& column : held->batch.columns()) {
    held->names.emplace_back(column.name);
  }
  for (const xtts::BatchColumn& column : held->batch.columns()) {
    xtts_batch_column shown{};
    shown.name = held->names[held->columns.size()].c_str();
    shown.dtype = static_cast<std::int32_t>(column.dtype);
    shown.dimension_count = static_cast<std::int32_t>(column.shape.size());
    std::ranges::copy(column.shape, shown.shape);
    shown.data = column.bytes.data();
    shown.data_bytes = column.bytes.size();
    shown.lengths = column.lengths.data();
    shown.is_view = column.is_view ? 1 : 0;
    shown.device_kind = static_cast<std::int32_t>(column.device.kind);
    shown.device_number = column.device.number;
    held->columns.push_back(shown);
  }
  out.size = held->batch.size();
  out.valid_count = held->batch.valid_count();
  out.bucket = held->batch.bucket();
  out.column_count = held->columns.size();
  out.columns = held->columns.data();
  out.speakers = held->batch.speakers().data();
  out.languages = held->batch.languages().data();
  out.positions = held->batch.positions().data();
  out.release = release_batch;
  out.private_data = held.release();
}

}  // namespace xtts::capi
