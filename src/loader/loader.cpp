#include "loader/loader.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "base/current_exception.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kOrderVersion = 1;
constexpr std::uint32_t kBatchSizeMax = 1U << 20U;
constexpr std::uint32_t kSlotsMin = 3;
constexpr std::uint32_t kSlotsMax = 1024;
constexpr std::uint32_t kThreadsMax = 256;
constexpr std::uint64_t kStretchBytes = std::uint64_t{32} << 20U;
constexpr std::uint64_t kStretchesPerWindow = 16;

Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

Status check_options(const ReaderOptions& options) {
  if (options.batch_size == 0 || options.batch_size > kBatchSizeMax) {
    return invalid("batch_size must be from 1 to 1048576");
  }
  if (options.world_size == 0) return invalid("world_size must be at least 1");
  if (options.rank >= options.world_size) {
    return invalid("rank is " + std::to_string(options.rank) + ", but ranks go from 0 to " +
                   std::to_string(options.world_size - 1));
  }
  if (options.slot_count < kSlotsMin || options.slot_count > kSlotsMax) {
    return invalid("slot_count must be from 3 to 1024: one batch is used while others are filled");
  }
  if (options.thread_count > kThreadsMax) return invalid("thread_count must be at most 256");
  if (options.crop_frames > 0 && !options.buckets.empty()) {
    return invalid("crops are all of one length: buckets have nothing to sort by");
  }
  for (const Bucket& bucket : options.buckets) {
    if (bucket.batch_size == 0 || bucket.batch_size > kBatchSizeMax) {
      return invalid("a bucket's batch_size must be from 1 to 1048576");
    }
  }
  return {};
}

std::vector<ColumnRequest> all_columns(const reader::CacheSet& caches) {
  std::vector<ColumnRequest> requests;
  for (const reader::SharedColumn& column : caches.columns()) {
    requests.push_back({.name = column.entry->spec.name});
  }
  return requests;
}

// Runs of kStretchBytes of the largest column, which the others follow: whole blocks of it.
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

std::uint32_t default_thread_count() {
  return std::thread::hardware_concurrency() > 2 ? 2 : 1;
}

Result<std::unique_ptr<Loader>> Loader::open(std::shared_ptr<reader::CacheSet> caches,
                                             const ReaderOptions& options) {
  XTTS_TRY(check_options(options));
  XTTS_ASSIGN(auto selection, Selection::choose(*caches, {.split = options.split,
                                                          .where = options.where,
                                                          .ids = options.ids,
                                                          .exclude = options.exclude}));
  std::unique_ptr<Loader> loader(new Loader(std::move(caches), std::move(selection)));
  XTTS_TRY(loader->lay_out(options));
  XTTS_TRY(loader->start(options));
  return loader;
}

Status Loader::lay_out(const ReaderOptions& options) {
  const auto columns = options.columns.empty() ? all_columns(*caches_) : options.columns;
  if (options.crop_frames > 0 && caches_->find_column("mel") == nullptr) {
    return {StatusCode::kNotFound, "crop_frames needs a cache with the column 'mel'"};
  }
  if (options.buckets.empty()) {
    XTTS_ASSIGN(auto layout, BatchLayout::plan(*caches_, columns, options.batch_size,
                                               {.frames_max = options.crop_frames}));
    layouts_.push_back(std::move(layout));
    return {};
  }
  for (const Bucket& bucket : options.buckets) {
    XTTS_ASSIGN(auto layout, BatchLayout::plan(*caches_, columns, bucket.batch_size,
                                               {.frames_max = bucket.frames_max,
                                                .tokens_max = bucket.tokens_max}));
    layouts_.push_back(std::move(layout));
  }
  return sort_into_buckets(options);
}

Status Loader::sort_into_buckets(const ReaderOptions& options) {
  XTTS_ASSIGN(bucket_of_sample_, assign_buckets(*caches_, selection_, options.buckets));
  has_buckets_ = true;
  for (const Bucket& bucket : options.buckets) {
    buckets_text_ +=
        " bucket " + std::to_string(bucket.frames_max) + " " + std::to_string(bucket.tokens_max);
  }
  return {};
}

Status Loader::weigh(const Weights& weights) {
  if (order_.shuffle != Shuffle::kGlobal) {
    return invalid("weights need the shuffle global: the others go through the clips as they lie");
  }
  XTTS_ASSIGN(groups_, group_samples(*caches_, selection_, weights));
  order_.sample_count = groups_->draw_count;
  weights_text_ = " weights " + std::to_string(static_cast<int>(weights.by)) + " " +
                  std::to_string(weights.temperature) + " " + std::to_string(groups_->draw_count);
  return {};
}

Status Loader::start(const ReaderOptions& options) {
  order_ = {.sample_count = selection_.size(),
            .shuffle = options.shuffle,
            .seed = options.seed,
            .stretch_samples = options.stretch_samples,
            .stretches_per_window = options.stretches_per_window};
  if (order_.stretch_samples == 0)
    order_.stretch_samples = default_stretch_samples(layouts_.front());
  if (order_.stretches_per_window == 0) order_.stretches_per_window = kStretchesPerWindow;
  if (options.weights) XTTS_TRY(weigh(*options.weights));
  steps_ = {.sample_count = order_.sample_count,
            .batch_size = options.batch_size,
            .world_size = options.world_size,
            .last = options.last_batch == LastBatch::kPad ? LastStep::kPad : LastStep::kDrop};

  const std::uint32_t threads =
      options.thread_count != 0 ? options.thread_count : default_thread_count();
  if (order_.shuffle == Shuffle::kWindow) {
    std::vector<const reader::SharedColumn*> columns;
    for (const ColumnLayout& column : layouts_.front().columns) columns.push_back(column.shared);
    window_reader_ = std::make_unique<WindowReader>(*caches_, selection_, std::move(columns));
  }
  filler_ =
      std::make_unique<BatchFiller>(*caches_, selection_, layouts_,
                                    BatchFillerOptions{.order = order_,
                                                       .groups = groups_ ? &*groups_ : nullptr,
                                                       .steps = steps_,
                                                       .rank = options.rank,
                                                       .crop_frames = options.crop_frames,
                                                       .verify_records = options.verify_records,
                                                       .on_damage = options.on_damage,
                                                       .thread_count = threads,
                                                       .window_reader = window_reader_.get()});
  XTTS_ASSIGN(auto slots, make_slots(options));
  ring_ = std::make_unique<Ring>(*filler_, std::move(slots), threads);
  begin_epoch();
  return {};
}

// Any of them may hold a batch of any bucket.
Result<std::vector<std::unique_ptr<gpu::SlotMemory>>> Loader::make_slots(
    const ReaderOptions& options) {
  XTTS_ASSIGN(device_, gpu::Device::open(options.device, {.lock_memory = options.lock_memory}));
  std::size_t size_bytes = 0;
  for (const BatchLayout& layout : layouts_) size_bytes = std::max(size_bytes, layout.size_bytes);
  std::vector<std::unique_ptr<gpu::SlotMemory>> slots;
  for (std::uint32_t i = 0; i < options.slot_count; ++i) {
    XTTS_ASSIGN(auto slot, device_->make_slot(size_bytes));
    slots.push_back(std::move(slot));
  }
  return slots;
}

// Fillers that wait for a window are let go before the ring waits for them.
Loader::~Loader() {
  if (window_reader_ != nullptr) window_reader_->stop();
}

void Loader::begin_epoch() {
  if (has_buckets_) make_bucket_steps();
  if (window_reader_ != nullptr) {
    window_reader_->begin(filler_->sequence().order(),
                          bucket_steps_ ? bucket_steps_->first_place() : steps_.first_place);
  }
  ring_->resume(0, bucket_steps_ ? bucket_steps_->step_count() : steps_.step_count());
}

void Loader::make_bucket_steps() {
  std::vector<std::uint32_t> batch_sizes;
  for (const BatchLayout& layout : layouts_) batch_sizes.push_back(layout.batch_size);
  bucket_steps_ =
      std::make_shared<BucketSteps>(filler_->sequence(), bucket_of_sample_,
                                    BucketStepsOptions{.batch_sizes = std::move(batch_sizes),
                                                       .consumed = bucket_consumed_,
                                                       .world_size = steps_.world_size,
                                                       .last = steps_.last});
  filler_->set_bucket_steps(bucket_steps_);
}

std::uint64_t Loader::batches_per_epoch() const noexcept {
  if (bucket_steps_) return bucket_steps_->whole_step_count();
  Steps whole = steps_;
  whole.first_place = 0;
  return whole.step_count();
}

void Loader::set_epoch(std::uint64_t epoch) {
  const bool is_untouched = epoch == order_.epoch && steps_taken_ == 0 && steps_.first_place == 0 &&
                            bucket_consumed_.empty() && failure_.ok();
  if (!is_untouched) go_to(epoch, 0, {});
}

void Loader::go_to(std::uint64_t epoch, std::uint64_t first_place,
                   std::vector<std::uint64_t> bucket_consumed) {
  if (window_reader_ != nullptr) window_reader_->stop();
  ring_->pause();
  order_.epoch = epoch;
  steps_.first_place = first_place;
  bucket_consumed_ = std::move(bucket_consumed);
  steps_taken_ = 0;
  filler_->set_order(order_, steps_);
  intervals_.forget_last();
  failure_ = Status();
  try {
    begin_epoch();
  } catch (const std::bad_alloc&) {
    failure_ = status_of_current_exception();
  }
}

Result<std::optional<Lease>> Loader::next() {
  if (!failure_.ok()) return failure_;
  auto lease = ring_->next();
  if (lease.ok() && !*lease) {
    intervals_.forget_last();
    return lease;
  }
  // A batch that failed is behind us too; that all slots are kept is not a batch.
  if (lease.ok() || lease.status().code() != StatusCode::kBusy) ++steps_taken_;
  if (!lease.ok()) return lease;
  intervals_.tick(std::chrono::steady_clock::now());
  const BatchSlot& slot = ***lease;
  ++batch_count_;
  sample_count_taken_ += slot.positions.size();
  bytes_ += slot.true_bytes;
  const bool is_in_place = std::ranges::all_of(
      slot.in_place, [](const ColumnInPlace& column) { return column.mapping != nullptr; });
  if (is_in_place) ++batches_in_place_;
  return lease;
}

std::string Loader::selection_digest() const {
  std::string text = selection_.digest().to_hex();
  text += order_.shuffle == Shuffle::kNone ? " none"
          : order_.shuffle == Shuffle::kGlobal
              ? " global"
              : " window " + std::to_string(order_.stretch_samples) + " " +
                    std::to_string(order_.stretches_per_window);
  return digest128(text + weights_text_ + buckets_text_).to_hex();
}

ReaderState Loader::state() const {
  ReaderState state{.order_version = kOrderVersion,
                    .seed = order_.seed,
                    .epoch = order_.epoch,
                    .samples_consumed = steps_.place_after(steps_taken_),
                    .bucket_samples_consumed = {},
                    .cache = caches_->digest(),
                    .selection = selection_digest()};
  if (bucket_steps_) {
    state.bucket_samples_consumed = bucket_steps_->consumed_after(steps_taken_);
    state.samples_consumed = std::accumulate(state.bucket_samples_consumed.begin(),
                                             state.bucket_samples_consumed.end(), std::uint64_t{0});
  }
  return state;
}

Status Loader::load_state(const ReaderState& state) {
  if (state.order_version != kOrderVersion) {
    return {StatusCode::kUnsupported, "the state is of order version " +
                                          std::to_string(state.order_version) +
                                          "; this build knows version 1"};
  }
  if (state.cache != caches_->digest()) {
    return {StatusCode::kMismatch,
            "the state is of another generation of the cache (index " + state.cache + ", here " +
                caches_->digest() +
                "): begin the epoch anew with set_epoch, or open the cache it was made with"};
  }
  if (state.selection != selection_digest() || state.samples_consumed > steps_.sample_count ||
      state.bucket_samples_consumed.size() != (has_buckets_ ? layouts_.size() : 0)) {
    return {StatusCode::kMismatch,
            "the state is of a reader that chose other clips or another kind of shuffle"};
  }
  order_.seed = state.seed;
  go_to(state.epoch, has_buckets_ ? 0 : state.samples_consumed, state.bucket_samples_consumed);
  return {};
}

ReaderStats Loader::stats() const {
  DamageCounts counts = filler_->damage();
  const RingWaits waits = ring_->waits();
  ReaderStats stats;
  stats.batch_count = batch_count_;
  stats.sample_count = sample_count_taken_;
  stats.bytes = bytes_;
  stats.batches_in_place = batches_in_place_;
  stats.ms_mean = intervals_.mean_ms();
  stats.ms_std = intervals_.std_ms();
  stats.ms_p50 = intervals_.percentile_ms(0.50);
  stats.ms_p95 = intervals_.percentile_ms(0.95);
  stats.ms_p99 = intervals_.percentile_ms(0.99);
  stats.consumer_wait_s = std::chrono::duration<double>(waits.consumer).count();
  stats.filler_wait_s = std::chrono::duration<double>(waits.fillers).count();
  stats.check_failures = counts.damaged;
  stats.first_failures = std::move(counts.damage);
  stats.notice = device_->shortfall();
  return stats;
}

}  // namespace xtts::loader
