// Checks xtts_reader_options and converts them to the C++ interface's options.
#include "api/c/capi_options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/formatted.hpp"

namespace xtts::capi {
namespace {

static_assert(XTTS_SHUFFLE_WINDOW == static_cast<int>(xtts::Shuffle::kWindow));
static_assert(XTTS_LAST_PAD == static_cast<int>(xtts::LastBatch::kPad));
static_assert(XTTS_READING_DIRECT == static_cast<int>(xtts::Reading::kDirect));
static_assert(XTTS_NORMALIZE_GIVEN == static_cast<int>(xtts::Normalize::kGiven));
static_assert(XTTS_RANGE_CLIP == static_cast<int>(xtts::OnRange::kClip));
static_assert(XTTS_DAMAGE_IGNORE == static_cast<int>(xtts::OnDamage::kIgnore));
static_assert(XTTS_LOG_WARNING == static_cast<int>(xtts::LogLevel::kWarning));

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

// NULL means no list. We refuse an empty list: a selection that came out empty must not become all
// clips.
Status check_list(const void* list, std::size_t count, std::string_view name) {
  if ((list == nullptr) == (count == 0)) return {};
  return {StatusCode::kInvalidArgument,
          std::string(name) + (list == nullptr ? " is NULL, but its count is not 0"
                                               : " is an empty list: NULL means none")};
}

std::vector<std::string> texts_of(const char* const* texts, std::size_t count) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(text_or_empty(texts[i]));
  return list;
}

template <typename Enum>
xtts::Result<Enum> choice(std::int32_t number, Enum last, std::string_view name) {
  if (number >= 0 && number <= static_cast<std::int32_t>(last)) return static_cast<Enum>(number);
  return Status(StatusCode::kInvalidArgument, formatted("{} has no value {}", name, number));
}

xtts::Result<xtts::WeightBy> weight_by(std::int32_t number) {
  switch (number) {
    case XTTS_WEIGHT_BY_LANGUAGE:
      return xtts::WeightBy::kLanguage;
    case XTTS_WEIGHT_BY_SPEAKER:
      return xtts::WeightBy::kSpeaker;
    case XTTS_WEIGHT_BY_DATASET:
      return xtts::WeightBy::kDataset;
    default:
      return Status(StatusCode::kInvalidArgument, formatted("weight_by has no value {}", number));
  }
}

// True when the caller's size of a growing struct ends between two fields. Fields are aligned and
// new ones fill multiples of 8 bytes (xtts.h), so no field crosses such a multiple.
template <typename Struct>
bool may_end_at(std::size_t size_bytes) {
  static_assert(alignof(Struct) == 8 && sizeof(Struct) % 8 == 0);
  return size_bytes >= sizeof(std::size_t) && size_bytes % alignof(Struct) == 0;
}

Status check_size_of_options(const xtts_reader_options& given) {
  using Options = xtts_reader_options;
  if (!may_end_at<Options>(given.struct_bytes)) {
    return {StatusCode::kInvalidArgument,
            formatted("struct_bytes is {}, which ends within a field: give "
                      "sizeof(xtts_reader_options) to xtts_reader_options_init",
                      given.struct_bytes)};
  }
  // The caller may have fields of a newer header. We do not read through a size that no header
  // has.
  constexpr std::size_t kSizeMax = 64 * sizeof given;
  if (given.struct_bytes > kSizeMax) {
    return {StatusCode::kInvalidArgument,
            "struct_bytes is " + std::to_string(given.struct_bytes) +
                ": call xtts_reader_options_init with sizeof(xtts_reader_options)"};
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof given; i < given.struct_bytes; ++i) {
    if (bytes[i] == 0) continue;
    return {StatusCode::kUnsupported,
            "an option of a newer header is set (byte " + std::to_string(i) +
                " of the options), and this library, " + XTTS_VERSION + ", does not know it"};
  }
  return {};
}

xtts::Result<std::vector<xtts::ColumnRequest>> requests_of(const xtts_reader_options& options) {
  std::vector<xtts::ColumnRequest> requests;
  for (std::size_t i = 0; i < options.column_count; ++i) {
    const xtts_column_request& column = options.columns[i];
    xtts::ColumnRequest request{.name = text_or_empty(column.name)};
    if (column.dtype != 0) {
      const auto dtype = choice(column.dtype, xtts::DType::kInt64, "dtype");
      if (!dtype.ok()) return dtype.status();
      request.dtype = *dtype;
    }
    if (column.has_pad_value != 0 && column.has_pad_value != 1) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("has_pad_value has no value {}", column.has_pad_value));
    }
    if (column.has_pad_value != 0) request.pad_value = column.pad_value;
    requests.push_back(std::move(request));
  }
  return requests;
}

xtts::ReaderLog log_of(const xtts_reader_options& options) {
  if (options.log == nullptr) return {};
  return [log = options.log, context = options.log_context](xtts::LogLevel level,
                                                            const std::string& text) {
    log(context, static_cast<std::int32_t>(level), text.c_str());
  };
}

Status check_switch(std::int32_t value, std::string_view name) {
  if (value == 0 || value == 1) return {};
  return {StatusCode::kInvalidArgument, formatted("{} is 0 or 1, and not {}", name, value)};
}

std::vector<double> numbers_of(const double* numbers, std::size_t count) {
  if (numbers == nullptr) return {};
  return {numbers, numbers + count};
}

Status normalize(const xtts_normalize& wish, std::vector<xtts::ColumnRequest>& requests) {
  const std::string name = text_or_empty(wish.column);
  if (wish.reserved != 0)
    return {StatusCode::kInvalidArgument, "the reserved field of normalize is not 0"};
  const auto method = choice(wish.method, xtts::Normalize::kGiven, "normalize.method");
  if (!method.ok()) return method.status();
  const auto found = std::ranges::find(requests, name, &xtts::ColumnRequest::name);
  if (found == requests.end()) {
    return {
        StatusCode::kInvalidArgument,
        formatted("normalize names column '{}', which is none of columns: list it there", name)};
  }
  found->normalize = *method;
  found->means = numbers_of(wish.means, wish.channel_count);
  found->deviations = numbers_of(wish.deviations, wish.channel_count);
  return {};
}

}  // namespace

xtts::Result<xtts::ReaderOptions> options_of(const xtts_reader_options& given) {
  xtts_reader_options options;
  xtts_reader_options_init(&options, sizeof options);
  if (given.struct_bytes < sizeof given.struct_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  "the options were not initialized: call xtts_reader_options_init");
  }
  if (const Status size = check_size_of_options(given); !size.ok()) return size;
  // A program built against an older header gives fewer fields; a newer header gives more.
  std::memcpy(&options, &given, std::min(given.struct_bytes, sizeof options));
  const auto shuffle = choice(options.shuffle, xtts::Shuffle::kWindow, "shuffle");
  if (!shuffle.ok()) return shuffle.status();
  const auto last_batch = choice(options.last_batch, xtts::LastBatch::kPad, "last_batch");
  if (!last_batch.ok()) return last_batch.status();
  const auto on_damage = choice(options.on_damage, xtts::OnDamage::kIgnore, "on_damage");
  if (!on_damage.ok()) return on_damage.status();
  const auto reading = choice(options.reading, xtts::Reading::kDirect, "reading");
  if (!reading.ok()) return reading.status();
  const auto on_range = choice(options.on_range, xtts::OnRange::kClip, "on_range");
  if (!on_range.ok()) return on_range.status();
  for (const Status& field : {check_switch(options.verify_records, "verify_records"),
                              check_switch(options.lock_memory, "lock_memory")}) {
    if (!field.ok()) return field;
  }
  if (options.reserved != 0 || options.reserved_2 != 0) {
    return Status(StatusCode::kInvalidArgument, "the reserved field of the options is not 0");
  }
  for (const Status& list : {check_list(options.ids, options.id_count, "ids"),
                             check_list(options.exclude, options.exclude_count, "exclude"),
                             check_list(options.columns, options.column_count, "columns"),
                             check_list(options.buckets, options.bucket_count, "buckets"),
                             check_list(options.normalize, options.normalize_count, "normalize")}) {
    if (!list.ok()) return list;
  }
  std::optional<xtts::Weights> weights;
  if (options.weight_by == XTTS_WEIGHT_NONE) {
    if (options.draw_count != 0 || options.temperature != xtts::Weights().temperature) {
      return Status(StatusCode::kInvalidArgument,
                    "draw_count and temperature are for weights: set weight_by");
    }
  } else {
    const auto by = weight_by(options.weight_by);
    if (!by.ok()) return by.status();
    weights = {.by = *by, .temperature = options.temperature, .draw_count = options.draw_count};
  }
  std::vector<xtts::Bucket> buckets;
  for (const xtts_bucket& bucket : std::span(options.buckets, options.bucket_count)) {
    buckets.push_back({.batch_size = bucket.batch_size,
                       .frames_max = bucket.frames_max,
                       .tokens_max = bucket.tokens_max});
  }
  auto columns = requests_of(options);
  if (!columns.ok()) return columns.status();
  for (const xtts_normalize& wish : std::span(options.normalize, options.normalize_count)) {
    if (const Status status = normalize(wish, *columns); !status.ok()) return status;
  }
  return xtts::ReaderOptions{
      .batch_size = options.batch_size,
      .split = text_or_empty(options.split),
      .shuffle = *shuffle,
      .seed = options.seed,
      .rank = options.rank,
      .world_size = options.world_size,
      .last_batch = *last_batch,
      .columns = std::move(*columns),
      .where = text_or_empty(options.where),
      .ids = texts_of(options.ids, options.id_count),
      .exclude = texts_of(options.exclude, options.exclude_count),
      .weights = weights,
      .buckets = std::move(buckets),
      .crop_frames = options.crop_frames,
      .verify_records = options.verify_records != 0,
      .on_damage = *on_damage,
      .slot_count = options.slot_count,
      .thread_count = options.thread_count,
      .device = options.device == nullptr ? "cpu" : options.device,
      .lock_memory = options.lock_memory != 0,
      .stretch_samples = options.stretch_samples,
      .stretches_per_window = options.stretches_per_window,
      .reading = *reading,
      .max_damage = options.max_damage,
      .log = log_of(options),
      .device_memory_bytes = options.device_memory_bytes,
      .data_device = text_or_empty(options.data_device),
      .data_device_memory_bytes = options.data_device_memory_bytes,
      .on_range = *on_range,
  };
}

bool is_size_of_stats(std::size_t size_bytes) noexcept {
  using Stats = xtts_reader_stats;
  return size_bytes <= 64 * sizeof(Stats) && may_end_at<Stats>(size_bytes);
}

}  // namespace xtts::capi

void xtts_reader_options_init(xtts_reader_options* options, size_t struct_bytes) {
  const xtts::ReaderOptions defaults;
  if (options == nullptr || struct_bytes < sizeof options->struct_bytes) return;
  xtts_reader_options full{};
  full.struct_bytes = struct_bytes;  // a newer header's further fields stay 0
  full.batch_size = defaults.batch_size;
  full.shuffle = static_cast<std::int32_t>(defaults.shuffle);
  full.world_size = defaults.world_size;
  full.verify_records = defaults.verify_records ? 1 : 0;
  full.slot_count = defaults.slot_count;
  full.thread_count = defaults.thread_count;
  full.device = "cpu";
  full.max_damage = defaults.max_damage;
  full.temperature = xtts::Weights().temperature;
  std::memset(static_cast<void*>(options), 0, struct_bytes);
  std::memcpy(static_cast<void*>(options), &full, std::min(struct_bytes, sizeof full));
}
