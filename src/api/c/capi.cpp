// include/xtts/xtts.h on top of the C++ headers. Every entry catches exceptions: memory may run
// out while a result is put together.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/capi_options.hpp"
#include "base/no_cancellation.hpp"
#include "xtts/batch.hpp"
#include "xtts/reader.hpp"
#include "xtts/xtts.h"

struct xtts_cache {
  explicit xtts_cache(xtts::Cache opened)
      : cache(std::move(opened)), digest(cache.digest()), columns(cache.columns()) {}

  xtts::Cache cache;
  std::string digest;
  std::vector<xtts::ColumnInfo> columns;
};

struct xtts_reader {
  xtts::Reader reader;
};

namespace {

using xtts::Status;
using xtts::StatusCode;

static_assert(XTTS_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(XTTS_NOT_FOUND == static_cast<int>(StatusCode::kNotFound));
static_assert(XTTS_SOURCE_IO == static_cast<int>(StatusCode::kSourceIo));
static_assert(XTTS_CORRUPT == static_cast<int>(StatusCode::kCorrupt));
static_assert(XTTS_UNSUPPORTED == static_cast<int>(StatusCode::kUnsupported));
static_assert(XTTS_MISMATCH == static_cast<int>(StatusCode::kMismatch));
static_assert(XTTS_BUSY == static_cast<int>(StatusCode::kBusy));
static_assert(XTTS_RESOURCE == static_cast<int>(StatusCode::kResource));
static_assert(XTTS_CANCELLED == static_cast<int>(StatusCode::kCancelled));
static_assert(XTTS_LOG_WARNING == static_cast<int>(xtts::LogLevel::kWarning));
static_assert(XTTS_INTERNAL == static_cast<int>(StatusCode::kInternal));
static_assert(XTTS_FLOAT32 == static_cast<int>(xtts::DType::kFloat32));
static_assert(XTTS_DEVICE_CPU == static_cast<int>(xtts::DeviceKind::kCpu));
static_assert(XTTS_DEVICE_CUDA == static_cast<int>(xtts::DeviceKind::kCuda));
static_assert(XTTS_INT64 == static_cast<int>(xtts::DType::kInt64));

// Copies text, cut at `size_bytes` between two characters. A 0 always ends it.
void copy_text(std::string_view text, char* out, std::size_t size_bytes) {
  if (size_bytes == 0) return;
  std::size_t count = std::min(text.size(), size_bytes - 1);
  const auto goes_on = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  // A character has at most three further bytes; text with more of them is not UTF-8.
  for (int i = 0; i < 3 && count > 0 && count < text.size() && goes_on(count); ++i) --count;
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

xtts_code tell(xtts_error* error, StatusCode code, std::string_view message) {
  if (error != nullptr) {
    error->code = static_cast<xtts_code>(code);
    copy_text(message, error->message, sizeof error->message);
  }
  return static_cast<xtts_code>(code);
}

// Runs `call`, which returns a Status, and reports its failure.
template <typename Call>
xtts_code at_entry(xtts_error* error, Call call) noexcept {
  const xtts::NoCancellation no_cancellation;
  try {
    const Status status = call();
    return tell(error, status.code(), status.message());
  } catch (const std::bad_alloc&) {
    return tell(error, StatusCode::kResource, "out of memory");
  } catch (const std::exception& failure) {
    return tell(error, StatusCode::kInternal, failure.what());
  } catch (...) {
    return tell(error, StatusCode::kInternal, "an exception of another kind");
  }
}

Status is_missing(std::string_view what) {
  return {StatusCode::kInvalidArgument, std::string(what) + " is NULL"};
}

// A batch's private_data points to a HeldBatch.
struct HeldBatch {
  xtts::Batch batch;
  std::vector<std::string> names;  // with a final 0, which string_views lack
  std::vector<xtts_batch_column> columns;
};

// Returns null for no batch, or for one that was released.
const HeldBatch* held_by(const xtts_batch* batch) {
  return batch == nullptr ? nullptr : static_cast<const HeldBatch*>(batch->private_data);
}

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

// Holds the memory of a reader's texts.
struct HeldTexts {
  xtts::ReaderStats stats;
  std::vector<const char*> failures;
};

void release_texts(xtts_reader_texts* texts) {
  delete static_cast<HeldTexts*>(texts->private_data);
  *texts = {};
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

const char* name_at(const std::vector<std::string>& names, size_t number) {
  return number < names.size() ? names[number].c_str() : nullptr;
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

// At the epoch's end, `release` stays NULL.
template <typename Next>
Status next_batch(Next next, xtts_batch& out) {
  auto held = std::make_unique<HeldBatch>();
  auto batch = next();
  if (!batch.ok()) return batch.status();
  if (!*batch) return {};
  held->batch = std::move(**batch);
  show_batch(std::move(held), out);
  return {};
}

}  // namespace

const char* xtts_version(void) {
  return XTTS_VERSION;
}

xtts_code xtts_cache_open(const char* path, xtts_cache** out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (path == nullptr || out == nullptr) return is_missing("path or out");
    *out = nullptr;
    auto cache = xtts::Cache::open(path);
    if (!cache.ok()) return cache.status();
    *out = new xtts_cache(std::move(*cache));
    return {};
  });
}

xtts_code xtts_caches_open(const char* const* paths, size_t path_count, xtts_cache** out,
                           xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (paths == nullptr || out == nullptr) return is_missing("paths or out");
    *out = nullptr;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < path_count; ++i) {
      if (paths[i] == nullptr) return is_missing("a path");
      texts.emplace_back(paths[i]);
    }
    auto cache = xtts::Cache::open(texts);
    if (!cache.ok()) return cache.status();
    *out = new xtts_cache(std::move(*cache));
    return {};
  });
}

void xtts_cache_close(xtts_cache* cache) {
  const xtts::NoCancellation no_cancellation;
  delete cache;
}

uint64_t xtts_cache_size(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.size();
}

const char* xtts_cache_recipe(const xtts_cache* cache) {
  return cache == nullptr ? nullptr : cache->cache.recipe_name().c_str();
}

uint64_t xtts_cache_generation(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.generation();
}

const char* xtts_cache_digest(const xtts_cache* cache) {
  return cache == nullptr ? nullptr : cache->digest.c_str();
}

size_t xtts_cache_speaker_count(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.speakers().size();
}

const char* xtts_cache_speaker(const xtts_cache* cache, size_t number) {
  return cache == nullptr ? nullptr : name_at(cache->cache.speakers(), number);
}

size_t xtts_cache_language_count(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.languages().size();
}

const char* xtts_cache_language(const xtts_cache* cache, size_t number) {
  return cache == nullptr ? nullptr : name_at(cache->cache.languages(), number);
}

size_t xtts_cache_column_count(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->columns.size();
}

xtts_code xtts_cache_column(const xtts_cache* cache, size_t index, xtts_column_info* out,
                            xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || out == nullptr) return is_missing("cache or out");
    if (index >= cache->columns.size()) {
      return {StatusCode::kNotFound, "there is no column " + std::to_string(index) +
                                         ": the cache has " +
                                         std::to_string(cache->columns.size())};
    }
    const xtts::ColumnInfo& column = cache->columns[index];
    out->name = column.name.c_str();
    out->dtype = static_cast<std::int32_t>(column.dtype);
    out->dimension_count = static_cast<std::int32_t>(column.shape.size());
    std::ranges::copy(column.shape, out->shape);
    out->axis = column.axis.c_str();
    out->version = column.version.c_str();
    out->missing_count = column.missing_count;
    out->rows_per_frame = column.rows_per_frame;
    out->is_added = column.is_added ? 1 : 0;
    return {};
  });
}

xtts_code xtts_cache_clip(const xtts_cache* cache, uint64_t position, xtts_clip* out,
                          xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || out == nullptr) return is_missing("cache or out");
    auto found = cache->cache.clip(position);
    if (!found.ok()) return found.status();
    show_clip(std::move(*found), *out);
    return {};
  });
}

xtts_code xtts_cache_find(const xtts_cache* cache, const char* id, uint64_t* position,
                          xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (cache == nullptr || id == nullptr || position == nullptr) {
      return is_missing("cache, id or position");
    }
    const auto found = cache->cache.find(id);
    if (!found.ok()) return found.status();
    if (!*found) {
      return {StatusCode::kNotFound, "the cache has no clip '" + std::string(id) + "'"};
    }
    *position = **found;
    return {};
  });
}

xtts_code xtts_cache_id(const xtts_cache* cache, uint64_t position, char* out, size_t out_bytes,
                        size_t* length, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (cache == nullptr || (out == nullptr && out_bytes > 0)) return is_missing("cache or out");
    const auto id = cache->cache.id(position);
    if (!id.ok()) return id.status();
    copy_text(*id, out, out_bytes);
    if (length != nullptr) *length = id->size();
    return {};
  });
}

xtts_code xtts_cache_statistics(const xtts_cache* cache, const char* column, xtts_statistics* out,
                                xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || column == nullptr || out == nullptr) {
      return is_missing("cache, column or out");
    }
    auto found = cache->cache.statistics(column);
    if (!found.ok()) return found.status();
    show_statistics(std::move(*found), *out);
    return {};
  });
}

xtts_code xtts_cache_read(const xtts_cache* cache, const char* column, uint64_t position,
                          xtts_record* out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || column == nullptr || out == nullptr) {
      return is_missing("cache, column or out");
    }
    return show_record(cache->cache.read(column, position), *out);
  });
}

xtts_code xtts_cache_view(const xtts_cache* cache, const char* column, uint64_t position,
                          xtts_record* out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || column == nullptr || out == nullptr) {
      return is_missing("cache, column or out");
    }
    return show_record(cache->cache.view(column, position), *out);
  });
}

xtts_code xtts_batch_wait(const xtts_batch* batch, xtts_error* error) {
  return at_entry(error, [&] {
    const HeldBatch* const held = held_by(batch);
    return held == nullptr ? is_missing("batch, or what it held,") : held->batch.wait();
  });
}

xtts_code xtts_batch_let_wait(const xtts_batch* batch, uintptr_t stream, xtts_error* error) {
  return at_entry(error, [&] {
    const HeldBatch* const held = held_by(batch);
    return held == nullptr ? is_missing("batch, or what it held,") : held->batch.let_wait(stream);
  });
}

const xtts_batch_column* xtts_batch_find(const xtts_batch* batch, const char* name) {
  if (batch == nullptr || name == nullptr) return nullptr;
  for (std::size_t i = 0; i < batch->column_count; ++i) {
    if (std::strcmp(batch->columns[i].name, name) == 0) return &batch->columns[i];
  }
  return nullptr;
}

xtts_code xtts_reader_open(const xtts_cache* cache, const xtts_reader_options* options,
                           xtts_reader** out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (cache == nullptr || options == nullptr || out == nullptr) {
      return is_missing("cache, options or out");
    }
    *out = nullptr;
    const auto understood = xtts::capi::options_of(*options);
    if (!understood.ok()) return understood.status();
    auto reader = xtts::Reader::open(cache->cache, *understood);
    if (!reader.ok()) return reader.status();
    *out = new xtts_reader{std::move(*reader)};
    return {};
  });
}

void xtts_reader_close(xtts_reader* reader) {
  const xtts::NoCancellation no_cancellation;
  delete reader;
}

uint64_t xtts_reader_sample_count(const xtts_reader* reader) {
  return reader == nullptr ? 0 : reader->reader.sample_count();
}

uint64_t xtts_reader_batches_per_epoch(const xtts_reader* reader) {
  return reader == nullptr ? 0 : reader->reader.batches_per_epoch();
}

uint64_t xtts_reader_epoch(const xtts_reader* reader) {
  return reader == nullptr ? 0 : reader->reader.epoch();
}

xtts_code xtts_reader_set_epoch(xtts_reader* reader, uint64_t epoch, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (reader == nullptr) return is_missing("reader");
    reader->reader.set_epoch(epoch);
    return {};
  });
}

xtts_code xtts_reader_next(xtts_reader* reader, xtts_batch* out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (reader == nullptr || out == nullptr) return is_missing("reader or out");
    return next_batch([&] { return reader->reader.next(); }, *out);
  });
}

xtts_code xtts_reader_next_within(xtts_reader* reader, uint32_t limit_ms, xtts_batch* out,
                                  xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (reader == nullptr || out == nullptr) return is_missing("reader or out");
    const std::chrono::milliseconds limit(limit_ms);
    return next_batch([&] { return reader->reader.next(limit); }, *out);
  });
}

void xtts_reader_interrupt(xtts_reader* reader) {
  if (reader != nullptr) reader->reader.interrupt();
}

xtts_code xtts_reader_get_state(const xtts_reader* reader, xtts_reader_state* out,
                                xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (reader == nullptr || out == nullptr) return is_missing("reader or out");
    const xtts::ReaderState state = reader->reader.state();
    *out = {};
    out->order_version = state.order_version;
    out->seed = state.seed;
    out->epoch = state.epoch;
    out->samples_consumed = state.samples_consumed;
    out->bucket_count = static_cast<std::uint32_t>(state.bucket_samples_consumed.size());
    std::ranges::copy(state.bucket_samples_consumed, out->bucket_samples_consumed);
    copy_text(state.cache, out->cache, sizeof out->cache);
    copy_text(state.selection, out->selection, sizeof out->selection);
    return {};
  });
}

xtts_code xtts_reader_load_state(xtts_reader* reader, const xtts_reader_state* state,
                                 xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (reader == nullptr || state == nullptr) return is_missing("reader or state");
    // The bytes come from a file, so a text may lack its final 0.
    const auto text = [](const auto& field) {
      return std::string(field, std::find(std::begin(field), std::end(field), '\0'));
    };
    const std::size_t bucket_count = std::min<std::size_t>(state->bucket_count, XTTS_BUCKETS_MAX);
    const std::uint64_t* const consumed = state->bucket_samples_consumed;
    return reader->reader.load_state(
        {.order_version = state->order_version,
         .seed = state->seed,
         .epoch = state->epoch,
         .samples_consumed = state->samples_consumed,
         .bucket_samples_consumed = {consumed, consumed + bucket_count},
         .cache = text(state->cache),
         .selection = text(state->selection)});
  });
}

xtts_code xtts_reader_get_stats(const xtts_reader* reader, xtts_reader_stats* out,
                                xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (reader == nullptr || out == nullptr) return is_missing("reader or out");
    const std::size_t given_bytes = out->struct_bytes;
    if (given_bytes < sizeof out->struct_bytes || !xtts::capi::is_size_of_stats(given_bytes)) {
      return {StatusCode::kInvalidArgument,
              "set struct_bytes to sizeof(xtts_reader_stats), not " + std::to_string(given_bytes)};
    }
    const xtts::ReaderStats stats = reader->reader.stats();
    const xtts_reader_stats full{.struct_bytes = std::min(out->struct_bytes, sizeof(*out)),
                                 .batch_count = stats.batch_count,
                                 .sample_count = stats.sample_count,
                                 .bytes = stats.bytes,
                                 .batches_in_place = stats.batches_in_place,
                                 .ms_mean = stats.ms_mean,
                                 .ms_std = stats.ms_std,
                                 .ms_p50 = stats.ms_p50,
                                 .ms_p95 = stats.ms_p95,
                                 .ms_p99 = stats.ms_p99,
                                 .consumer_wait_s = stats.consumer_wait_s,
                                 .filler_wait_s = stats.filler_wait_s,
                                 .check_failures = stats.check_failures,
                                 .cache_hits = stats.cache_hits,
                                 .left_out_count = stats.left_out_count,
                                 .epoch_left_out_count = stats.epoch_left_out_count,
                                 .epoch_sample_count = stats.epoch_sample_count};
    std::memset(out, 0, given_bytes);  // also fields of a newer header
    std::memcpy(out, &full, full.struct_bytes);
    return {};
  });
}

xtts_code xtts_reader_get_texts(const xtts_reader* reader, xtts_reader_texts* out,
                                xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (reader == nullptr || out == nullptr) return is_missing("reader or out");
    show_texts(reader->reader.stats(), *out);
    return {};
  });
}
