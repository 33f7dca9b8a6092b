#include "loader/option_rules.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check_text.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "loader/bucket_steps.hpp"
#include "loader/epoch_sequence.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kBatchSizeMax = 1U << 20U;
constexpr std::uint32_t kSlotsMin = 3;
constexpr std::uint32_t kSlotsMax = 1024;
constexpr std::uint32_t kThreadsMax = 256;
constexpr std::uint64_t kStretchBytes = std::uint64_t{32} << 20U;
constexpr std::uint64_t kStretchesPerWindow = 16;

Status refuse(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

// Refuses a value that the enum does not have. A cast or another version of the header gives such a
// value.
template <typename Enum>
Status check_choice(Enum value, Enum last, std::string_view name) {
  const auto number = static_cast<unsigned>(value);
  if (number <= static_cast<unsigned>(last)) return {};
  return refuse(formatted("{} has no value {}", name, number));
}

Status check_choices(const ReaderOptions& options) {
  XTTS_TRY(check_choice(options.shuffle, Shuffle::kWindow, "shuffle"));
  XTTS_TRY(check_choice(options.last_batch, LastBatch::kPad, "last_batch"));
  XTTS_TRY(check_choice(options.on_damage, OnDamage::kIgnore, "on_damage"));
  XTTS_TRY(check_choice(options.on_range, OnRange::kClip, "on_range"));
  XTTS_TRY(check_choice(options.reading, Reading::kDirect, "reading"));
  if (options.weights)
    XTTS_TRY(check_choice(options.weights->by, WeightBy::kDataset, "weights.by"));
  for (const ColumnRequest& column : options.columns) {
    XTTS_TRY(check_choice(column.normalize, Normalize::kGiven, "normalize"));
    if (!column.dtype) continue;
    if (*column.dtype < DType::kFloat32) return refuse("dtype has no value 0");
    XTTS_TRY(check_choice(*column.dtype, DType::kInt64, "dtype"));
  }
  return {};
}

Status check_texts(const ReaderOptions& options) {
  XTTS_TRY(check_text("split", options.split));
  XTTS_TRY(check_text("where", options.where));
  XTTS_TRY(check_text("device", options.device));
  XTTS_TRY(check_text("data_device", options.data_device));
  for (const ColumnRequest& column : options.columns) {
    if (column.name.empty()) return refuse("a column of columns has an empty name");
    XTTS_TRY(check_text("a column's name", column.name));
  }
  for (const std::string& id : options.ids) XTTS_TRY(check_text("an id of ids", id));
  for (const std::string& id : options.exclude) XTTS_TRY(check_text("an id of exclude", id));
  return {};
}

// The samples in kStretchBytes of the largest column, in whole blocks of it. The other columns
// follow.
std::uint64_t default_stretch_samples(const BatchLayout& layout) {
  const formats::ColumnSpec* largest = nullptr;
  for (const ColumnLayout& column : layout.columns) {
    const formats::ColumnSpec& spec = column.column->spec;
    if (largest == nullptr || spec.record_bytes() > largest->record_bytes()) largest = &spec;
  }
  if (largest == nullptr) return 1;
  const std::uint64_t block = largest->geometry().records_per_block;
  return std::max(kStretchBytes / largest->record_bytes() / block, std::uint64_t{1}) * block;
}

}  // namespace

Status check_options(const ReaderOptions& options) {
  XTTS_TRY(check_choices(options));
  XTTS_TRY(check_texts(options));
  if (options.batch_size == 0 || options.batch_size > kBatchSizeMax) {
    return refuse("batch_size must be from 1 to 1048576");
  }
  if (options.world_size == 0) return refuse("world_size must be at least 1");
  if (options.rank >= options.world_size) {
    return refuse(
        formatted("rank is {}, but ranks go from 0 to {}", options.rank, options.world_size - 1));
  }
  if (options.slot_count < kSlotsMin || options.slot_count > kSlotsMax) {
    return refuse("slot_count must be from 3 to 1024: one batch is used while others are filled");
  }
  if (options.thread_count > kThreadsMax) return refuse("thread_count must be at most 256");
  if (!(options.max_damage >= 0 && options.max_damage <= 1)) {
    return refuse("max_damage must be from 0 to 1: the share of an epoch that may be left out");
  }
  if (options.crop_frames > 0 && !options.buckets.empty()) {
    return refuse(
        "crops are all of one length, so buckets have nothing to sort by: leave out one of the "
        "two");
  }
  if (options.weights && options.shuffle != Shuffle::kGlobal) {
    return refuse("weights need shuffle global");
  }
  if (options.weights) XTTS_TRY(check_weights(*options.weights));
  XTTS_TRY(check_buckets(options.buckets));
  for (const Bucket& bucket : options.buckets) {
    if (bucket.batch_size == 0 || bucket.batch_size > kBatchSizeMax) {
      return refuse("a bucket's batch_size must be from 1 to 1048576");
    }
  }
  return {};
}

std::string idle_options(const ReaderOptions& options, bool is_on_gpu) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (options.shuffle != Shuffle::kWindow &&
      (options.stretch_samples != 0 || options.stretches_per_window != 0)) {
    add("stretch_samples and stretches_per_window do nothing without shuffle window: leave them "
        "out");
  }
  if (options.data_device_memory_bytes != 0 && options.data_device.empty()) {
    add("data_device_memory does nothing without data_device");
  }
  // With device auto, shortfall() says that there is no GPU.
  if (options.device_memory_bytes != 0 && !is_on_gpu && options.device != "auto") {
    add("device_memory does nothing for batches on the CPU");
  }
  return text;
}

std::vector<ColumnRequest> chosen_columns(const ReaderOptions& options,
                                          const reader::ClipSet& clips) {
  if (!options.columns.empty()) return options.columns;
  std::vector<ColumnRequest> requests;
  for (const reader::SharedColumn& column : clips.columns()) {
    requests.push_back({.name = column.entry->spec.name});
  }
  return requests;
}

std::uint32_t default_thread_count() {
  return std::thread::hardware_concurrency() > 2 ? 2 : 1;
}

Stretches chosen_stretches(const ReaderOptions& options, const BatchLayout& layout) {
  Stretches stretches{.samples = options.stretch_samples,
                      .per_window = options.stretches_per_window};
  if (stretches.samples == 0) stretches.samples = default_stretch_samples(layout);
  if (stretches.per_window == 0) stretches.per_window = kStretchesPerWindow;
  return stretches;
}

bool is_possible(const ReaderState& state, std::uint64_t sample_count,
                 std::size_t bucket_count) noexcept {
  if (state.samples_consumed > sample_count) return false;
  if (state.bucket_samples_consumed.size() != bucket_count) return false;
  std::uint64_t left = state.samples_consumed;
  for (const std::uint64_t of_bucket : state.bucket_samples_consumed) {
    if (of_bucket > left) return false;
    left -= of_bucket;
  }
  return bucket_count == 0 || left == 0;
}

}  // namespace xtts::loader
