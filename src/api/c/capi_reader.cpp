// The calls of xtts.h for readers and their batches.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "api/c/capi_entry.hpp"
#include "api/c/capi_options.hpp"
#include "api/c/capi_views.hpp"
#include "base/formatted.hpp"

namespace {

using xtts::Status;
using xtts::StatusCode;
using xtts::capi::at_entry;
using xtts::capi::copy_text;
using xtts::capi::held_by;
using xtts::capi::HeldBatch;
using xtts::capi::missing_argument;
using xtts::capi::show_batch;
using xtts::capi::show_texts;

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

xtts_code xtts_batch_wait(const xtts_batch* batch, xtts_error* error) {
  return at_entry(error, [&] {
    const HeldBatch* const held = held_by(batch);
    return held == nullptr ? missing_argument("batch, or what it held,") : held->batch.wait();
  });
}

xtts_code xtts_batch_let_wait(const xtts_batch* batch, uintptr_t stream, xtts_error* error) {
  return at_entry(error, [&] {
    const HeldBatch* const held = held_by(batch);
    return held == nullptr ? missing_argument("batch, or what it held,")
                           : held->batch.let_wait(stream);
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
      return missing_argument("cache, options or out");
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
    if (reader == nullptr) return missing_argument("reader");
    reader->reader.set_epoch(epoch);
    return {};
  });
}

xtts_code xtts_reader_next(xtts_reader* reader, xtts_batch* out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (reader == nullptr || out == nullptr) return missing_argument("reader or out");
    return next_batch([&] { return reader->reader.next(); }, *out);
  });
}

xtts_code xtts_reader_next_within(xtts_reader* reader, uint32_t limit_ms, xtts_batch* out,
                                  xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (reader == nullptr || out == nullptr) return missing_argument("reader or out");
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
    if (reader == nullptr || out == nullptr) return missing_argument("reader or out");
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
    if (reader == nullptr || state == nullptr) return missing_argument("reader or state");
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
    if (reader == nullptr || out == nullptr) return missing_argument("reader or out");
    const std::size_t given_bytes = out->struct_bytes;
    if (given_bytes < sizeof out->struct_bytes || !xtts::capi::is_size_of_stats(given_bytes)) {
      return {
          StatusCode::kInvalidArgument,
          xtts::formatted("set struct_bytes to sizeof(xtts_reader_stats), not {}", given_bytes)};
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
                                 .epoch_sample_count = stats.epoch_sample_count,
                                 .saturated_count = stats.saturated_count};
    std::memset(out, 0, given_bytes);  // also fields of a newer header
    std::memcpy(out, &full, full.struct_bytes);
    return {};
  });
}

xtts_code xtts_reader_get_texts(const xtts_reader* reader, xtts_reader_texts* out,
                                xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (reader == nullptr || out == nullptr) return missing_argument("reader or out");
    show_texts(reader->reader.stats(), *out);
    return {};
  });
}
