#include "loader/loader.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "base/current_exception.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "loader/option_rules.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kOrderVersion = 1;
constexpr std::size_t kDamageTextsMax = 16;
// What a disk works on at once, and that three times more for what waits to be checked and copied.
// More of it at once is no faster, but brings the records of several batches at the same moment.
constexpr std::uint64_t kReadsAtOnceBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kReadsAtOnceMin = 8;
constexpr std::uint64_t kReadsAtOnceMax = 128;
constexpr std::uint64_t kStagingBytes = std::uint64_t{32} << 20U;

std::string in_percent(double share) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%g %%", 100 * share);
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

std::string repair_commands(const reader::CacheSet& caches) {
  std::string text;
  for (std::size_t i = 0; i < caches.cache_count(); ++i) {
    if (i > 0) text += " and ";
    text += reader::repair_command(caches.cache(i).path());
  }
  return text;
}

}  // namespace

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
  const auto columns = chosen_columns(options, *caches_);
  if (options.crop_frames > 0 && caches_->max_frames() == 0)
    return {StatusCode::kNotFound, "crop_frames: the cache's records have no frames"};
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
  for (const Bucket& bucket : options.buckets) {
    buckets_text_ +=
        " bucket " + std::to_string(bucket.frames_max) + " " + std::to_string(bucket.tokens_max);
  }
  return {};
}

Status Loader::weigh(const Weights& weights) {
  EpochOrderOptions& order = plan_options_.order;
  XTTS_ASSIGN(groups_, group_samples(*caches_, selection_, weights));
  order.sample_count = groups_->draw_count;
  plan_options_.groups = &*groups_;
  weights_text_ = " weights " + std::to_string(static_cast<int>(weights.by)) + " " +
                  std::to_string(weights.temperature) + " " + std::to_string(groups_->draw_count);
  return {};
}

Status Loader::start(const ReaderOptions& options) {
  const Stretches stretches = chosen_stretches(options, layouts_.front());
  EpochOrderOptions& order = plan_options_.order;
  order = {.sample_count = selection_.size(),
           .shuffle = options.shuffle,
           .seed = options.seed,
           .stretch_samples = stretches.samples,
           .stretches_per_window = stretches.per_window};
  if (options.weights) XTTS_TRY(weigh(*options.weights));
  skips_damage_ = options.on_damage == OnDamage::kSkip;
  max_damage_ = options.max_damage;
  plan_options_.world_size = options.world_size;
  plan_options_.last = options.last_batch == LastBatch::kPad ? LastStep::kPad : LastStep::kDrop;
  for (const BatchLayout& layout : layouts_) {
    plan_options_.batch_sizes.push_back(layout.batch_size);
  }
  plan_options_.has_buckets = !options.buckets.empty();
  plan_options_.bucket_of_sample = bucket_of_sample_;

  const std::uint32_t threads =
      options.thread_count != 0 ? options.thread_count : default_thread_count();
  choose_reading(options);
  if (order.shuffle == Shuffle::kWindow && staging_ == nullptr) {
    std::vector<const reader::SharedColumn*> columns;
    for (const ColumnLayout& column : layouts_.front().columns) columns.push_back(column.shared);
    window_reader_ = std::make_unique<WindowReader>(*caches_, selection_, std::move(columns),
                                                    options.lock_memory);
  }
  filler_ =
      std::make_unique<BatchFiller>(*caches_, layouts_,
                                    BatchFillerOptions{.shuffle = order.shuffle,
                                                       .seed = order.seed,
                                                       .rank = options.rank,
                                                       .crop_frames = options.crop_frames,
                                                       .verify_records = options.verify_records,
                                                       .on_damage = options.on_damage,
                                                       .window_reader = window_reader_.get(),
                                                       .staging = staging_.get()});
  XTTS_ASSIGN(auto slots, make_slots(options));
  ring_ = std::make_unique<Ring>(*filler_, std::move(slots), threads);
  begin_epoch(0, {});
  no_batch_ = now_->whole_step_count() == 0;
  has_idle_stretches_ = options.shuffle != Shuffle::kWindow &&
                        (options.stretch_samples != 0 || options.stretches_per_window != 0);
  log_ = options.log;
  log_what_was_opened();
  return {};
}

void Loader::choose_reading(const ReaderOptions& options) {
  const ReadingFacts facts = find_reading_facts(*caches_, layouts_.front());
  storage_text_ = storage_in_words(facts);
  reading_ = loader::choose_reading(facts, options);
  if (reading_.reading != Reading::kDirect) return;
  const Status status = open_staging();
  if (!status.ok()) reading_ = fall_back(reading_, status);
}

Status Loader::open_staging() {
  std::uint64_t record_bytes_max = 0;
  std::uint32_t staged_count = 0;  // of the columns, and so of the records of a row
  for (const ColumnLayout& column : layouts_.front().columns) {
    const std::uint64_t record_bytes = column.column->spec.record_bytes();
    record_bytes_max = std::max(record_bytes_max, record_bytes);
    if (record_bytes >= kStagedRecordBytesMin) ++staged_count;
  }
  if (record_bytes_max < kStagedRecordBytesMin) {
    return {StatusCode::kUnsupported, "these records are small: the page cache is made for them"};
  }
  const std::uint64_t depth =
      std::clamp(kReadsAtOnceBytes / record_bytes_max, kReadsAtOnceMin, kReadsAtOnceMax);
  const StagingOptions staging{.record_bytes_max = record_bytes_max,
                               .memory_bytes = kStagingBytes,
                               .depth = static_cast<std::uint32_t>(depth),
                               .held_count_max = staged_count};
  XTTS_TRY(find_direct_file());
  XTTS_ASSIGN(staging_, RecordStaging::open(caches_->first()->env(), staging));
  return {};
}

// kUnsupported: the file systems that the caches lie on have no direct reads. What else may be
// wrong with a cache's first record is told when it is read.
Status Loader::find_direct_file() const {
  Status unsupported;
  for (std::size_t cache = 0; cache < caches_->cache_count(); ++cache) {
    for (const ColumnLayout& column : layouts_.front().columns) {
      const bool is_staged = column.column->spec.record_bytes() >= kStagedRecordBytesMin;
      if (!is_staged || caches_->cache(cache).size() == 0) continue;
      const auto place = caches_->locate_record(*column.shared, caches_->first_position(cache));
      if (!place.ok()) continue;
      const auto file = place->map->direct_file(*place);
      if (file.ok()) return {};
      if (file.status().code() == StatusCode::kUnsupported) unsupported = file.status();
    }
  }
  return unsupported;
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

// What follows a finished epoch is most often the next one: its first batches are filled while the
// last ones of this one are used. Windows are read from the disk in their own time.
void Loader::begin_epoch(std::uint64_t epoch, const Consumed& consumed) {
  now_ = std::make_shared<EpochPlan>(selection_, plan_options_, epoch, consumed, 0);
  then_ = nullptr;
  if (window_reader_ == nullptr) {
    then_ = std::make_shared<EpochPlan>(selection_, plan_options_, epoch + 1, Consumed(),
                                        now_->end_step());
  } else {
    window_reader_->begin(now_->sequence().order(), now_->first_place());
  }
  filler_->set_epochs(now_, then_);
  filler_->restart();
  ring_->resume(0, (then_ ? then_ : now_)->end_step());
}

void Loader::go_on_to_next_epoch() {
  // What is behind us goes first: two epochs in memory, not three. Nobody needs the third before
  // the steps are extended.
  now_ = std::move(then_);
  filler_->set_epochs(now_, nullptr);
  then_ = std::make_shared<EpochPlan>(selection_, plan_options_, epoch_ + 2, Consumed(),
                                      now_->end_step());
  filler_->set_epochs(now_, then_);
  ring_->extend(then_->end_step());
  ++epoch_;
  steps_taken_ = 0;
  forget_left_out();
}

std::uint64_t Loader::batches_per_epoch() const noexcept {
  return now_->whole_step_count();
}

void Loader::set_epoch(std::uint64_t epoch) {
  const bool is_begun = steps_taken_ > 0 || !now_->is_whole();
  if (epoch == epoch_ && !is_begun && failure_.ok()) return;
  const bool is_at_end = steps_taken_ == now_->step_count();
  if (epoch == epoch_ + 1 && is_at_end && then_ != nullptr && failure_.ok()) {
    try {
      return go_on_to_next_epoch();
    } catch (...) {
      // Begun anew, it tells what is wrong.
    }
  }
  go_to(epoch, {});
}

void Loader::go_to(std::uint64_t epoch, Consumed consumed) {
  if (window_reader_ != nullptr) window_reader_->stop();
  ring_->pause();
  epoch_ = epoch;
  steps_taken_ = 0;
  filler_->set_seed(plan_options_.order.seed);
  forget_last_interval();
  failure_ = Status();
  forget_left_out();
  try {
    begin_epoch(epoch, consumed);
  } catch (...) {
    failure_ = status_of_current_exception();
    wanted_ = std::move(consumed);
  }
}

void Loader::forget_last_interval() {
  const std::scoped_lock lock(stats_mutex_);
  intervals_.forget_last();
}

Result<std::optional<Lease>> Loader::next(std::optional<Ring::Clock::time_point> until) {
  if (!failure_.ok()) return failure_;
  if (!too_much_damage_.ok()) return too_much_damage_;
  if (steps_taken_ == now_->step_count()) {
    forget_last_interval();
    log_left_out();
    return std::optional<Lease>();
  }
  auto lease = ring_->next(until);
  // A batch that failed is behind us too; that all slots are kept, or a wait was ended, is no
  // batch.
  const StatusCode code = lease.status().code();
  if (code != StatusCode::kBusy && code != StatusCode::kCancelled) ++steps_taken_;
  if (!lease.ok()) {
    if (is_damage(lease.status())) note_damage(lease.status().message());
    return lease;
  }
  const BatchSlot& slot = ***lease;
  for (const FoundDamage& damage : slot.damage) note_damage(damage.text);
  XTTS_TRY(count_left_out(slot));
  note_batch(slot);
  return lease;
}

void Loader::note_batch(const BatchSlot& slot) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_in_place = std::ranges::all_of(
      slot.in_place, [](const ColumnInPlace& column) { return column.mapping != nullptr; });
  const std::scoped_lock lock(stats_mutex_);
  intervals_.tick(now);
  ++batch_count_;
  sample_count_taken_ += slot.positions.size();
  cache_hits_ +=
      slot.positions.size() - std::min<std::uint64_t>(slot.rows_read, slot.positions.size());
  bytes_ += slot.true_bytes;
  if (is_in_place) ++batches_in_place_;
}

void Loader::note_damage(const std::string& text) {
  log(LogLevel::kWarning, text);
  const std::scoped_lock lock(stats_mutex_);
  ++damage_count_;
  if (first_damage_.size() < kDamageTextsMax) first_damage_.push_back(text);
}

// A function of the user's that throws is not ours to mend: nothing leaves it.
void Loader::log(LogLevel level, const std::string& text) noexcept {
  if (!log_) return;
  try {
    log_(level, text);
  } catch (...) {
    log_ = nullptr;
  }
}

void Loader::log_what_was_opened() {
  if (!log_) return;
  log(LogLevel::kInfo, "storage: " + storage_text_);
  log(LogLevel::kInfo, "reading: " + reading_in_words());
  if (const std::string text = notice(); !text.empty()) log(LogLevel::kNotice, text);
}

// At an epoch's end.
void Loader::log_left_out() {
  if (!log_ || first_left_out_.empty()) return;
  log(LogLevel::kWarning, "epoch " + std::to_string(epoch_) + " has left out " +
                              std::to_string(epoch_left_out_count_) + " of " +
                              std::to_string(epoch_sample_count()) + " clips. " +
                              repair_commands(*caches_) + " mends what is damaged");
  first_left_out_.clear();
}

// Weighted draws count as often as they are drawn.
std::uint64_t Loader::epoch_sample_count() const noexcept {
  return plan_options_.order.sample_count / plan_options_.world_size;
}

Status Loader::count_left_out(const BatchSlot& slot) {
  if (!skips_damage_ || slot.damage.empty()) return {};
  {
    const std::scoped_lock lock(stats_mutex_);
    left_out_count_ += slot.left_out_count;
    epoch_left_out_count_ += slot.left_out_count;
  }
  if (first_left_out_.empty()) first_left_out_ = slot.damage.front().text;
  const std::uint64_t sample_count = epoch_sample_count();
  const auto lost = static_cast<double>(epoch_left_out_count_);
  if (lost <= max_damage_ * static_cast<double>(sample_count)) return {};
  too_much_damage_ = {StatusCode::kCorrupt,
                      "epoch " + std::to_string(epoch_) + " has left out " +
                          std::to_string(epoch_left_out_count_) + " of " +
                          std::to_string(sample_count) + " clips, more than max_damage allows (" +
                          in_percent(max_damage_) + "). The first: " + first_left_out_ + ". " +
                          repair_commands(*caches_) + " mends what is damaged"};
  return too_much_damage_;
}

void Loader::forget_left_out() {
  {
    const std::scoped_lock lock(stats_mutex_);
    epoch_left_out_count_ = 0;
  }
  first_left_out_.clear();
  too_much_damage_ = Status();
}

std::string Loader::selection_digest() const {
  std::string text = selection_.digest().to_hex();
  const EpochOrderOptions& order = plan_options_.order;
  text += order.shuffle == Shuffle::kNone ? " none"
          : order.shuffle == Shuffle::kGlobal
              ? " global"
              : " window " + std::to_string(order.stretch_samples) + " " +
                    std::to_string(order.stretches_per_window);
  return digest128(text + weights_text_ + buckets_text_).to_hex();
}

ReaderState Loader::state() const {
  Consumed consumed = failure_.ok() ? now_->consumed_after(steps_taken_) : wanted_;
  if (plan_options_.has_buckets) consumed.by_bucket.resize(layouts_.size());
  return {.order_version = kOrderVersion,
          .seed = plan_options_.order.seed,
          .epoch = epoch_,
          .samples_consumed = consumed.sample_count(),
          .bucket_samples_consumed = std::move(consumed.by_bucket),
          .cache = caches_->digest(),
          .selection = selection_digest()};
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
  const std::size_t bucket_count = plan_options_.has_buckets ? layouts_.size() : 0;
  if (state.selection != selection_digest() ||
      !is_possible(state, plan_options_.order.sample_count, bucket_count)) {
    return {StatusCode::kMismatch,
            "the state is of a reader that chose other clips or another kind of shuffle"};
  }
  plan_options_.order.seed = state.seed;
  go_to(state.epoch, {.place_count = bucket_count > 0 ? 0 : state.samples_consumed,
                      .by_bucket = state.bucket_samples_consumed});
  return {};
}

std::string Loader::reading_in_words() const {
  if (staging_ == nullptr) return "mapped: " + reading_.why;
  std::string text = "direct: " + reading_.why;
  if (const std::uint64_t count = staging_->failed_count(); count > 0) {
    text += "; " + std::to_string(count) + " records had to be read through the page cache";
  }
  return text;
}

// What the system did not grant, what would suit the storage better, and that there is no batch.
std::string Loader::notice() const {
  std::string text;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  };
  if (no_batch_) {
    add("an epoch has no batch: " + std::to_string(selection_.size()) +
        " clips do not fill one on each rank, and last_batch drops the rest");
  }
  if (has_idle_stretches_)
    add("stretch_samples and stretches_per_window do nothing: they are for the shuffle window");
  add(device_->shortfall());
  add(reading_.notice);
  if (window_reader_ != nullptr) add(window_reader_->shortfall());
  return text;
}

ReaderStats Loader::stats() const {
  const RingWaits waits = ring_->waits();
  ReaderStats stats;
  IntervalStats intervals;
  {
    const std::scoped_lock lock(stats_mutex_);
    stats.batch_count = batch_count_;
    stats.sample_count = sample_count_taken_;
    stats.bytes = bytes_;
    stats.batches_in_place = batches_in_place_;
    stats.cache_hits = cache_hits_;
    stats.check_failures = damage_count_;
    stats.first_failures = first_damage_;
    stats.left_out_count = left_out_count_;
    stats.epoch_left_out_count = epoch_left_out_count_;
    intervals = intervals_;
  }
  stats.ms_mean = intervals.mean_ms();
  stats.ms_std = intervals.std_ms();
  stats.ms_p50 = intervals.percentile_ms(0.50);
  stats.ms_p95 = intervals.percentile_ms(0.95);
  stats.ms_p99 = intervals.percentile_ms(0.99);
  stats.consumer_wait_s = std::chrono::duration<double>(waits.consumer).count();
  stats.filler_wait_s = std::chrono::duration<double>(waits.fillers).count();
  stats.epoch_sample_count = epoch_sample_count();
  stats.notice = notice();
  stats.storage = storage_text_;
  stats.reading = reading_in_words();
  return stats;
}

}  // namespace xtts::loader
