#include "loader/loader.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "base/current_exception.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "loader/option_rules.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kOrderVersion = 1;
constexpr std::size_t kDamageTextsMax = 16;

std::string in_percent(double share) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%g %%", 100 * share);
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

}  // namespace

Result<std::unique_ptr<Loader>> Loader::open(std::shared_ptr<RecordSource> source,
                                             const ReaderOptions& options) {
  XTTS_TRY(check_options(options));
  XTTS_TRY(source->check_options(options));
  std::unique_ptr<Loader> loader(new Loader(std::move(source)));
  XTTS_TRY(loader->lay_out(options));
  XTTS_ASSIGN(loader->device_,
              device::Device::open(options.device,
                                   {.lock_memory = options.lock_memory,
                                    .gpu_memory_bytes = options.device_memory_bytes,
                                    .data_device = options.data_device,
                                    .data_gpu_memory_bytes = options.data_device_memory_bytes}));
  XTTS_TRY(loader->choose_clips(options));  // may take hours where clips are computed
  XTTS_TRY(loader->start(options));
  return loader;
}

Status Loader::choose_clips(const ReaderOptions& options) {
  XTTS_TRY(source_->prepare(options));
  XTTS_ASSIGN(selection_, Selection::choose(clips(), {.split = options.split,
                                                      .where = options.where,
                                                      .ids = options.ids,
                                                      .exclude = options.exclude,
                                                      .not_at = source_->unusable_positions()}));
  return options.buckets.empty() ? Status() : sort_into_buckets(options);
}

Status Loader::lay_out(const ReaderOptions& options) {
  const auto columns = chosen_columns(options, clips());
  if (options.crop_frames > 0 && clips().max_frames() == 0)
    return {StatusCode::kNotFound, "crop_frames: the cache's records have no frames"};
  if (options.buckets.empty()) {
    XTTS_ASSIGN(auto layout, BatchLayout::plan(clips(), columns, options.batch_size,
                                               {.frames_max = options.crop_frames}));
    layouts_.push_back(std::move(layout));
    return {};
  }
  for (const Bucket& bucket : options.buckets) {
    XTTS_ASSIGN(auto layout, BatchLayout::plan(clips(), columns, bucket.batch_size,
                                               {.frames_max = bucket.frames_max,
                                                .tokens_max = bucket.tokens_max}));
    layouts_.push_back(std::move(layout));
  }
  return {};
}

Status Loader::sort_into_buckets(const ReaderOptions& options) {
  XTTS_ASSIGN(bucket_of_sample_, assign_buckets(clips(), selection_, options.buckets));
  for (const Bucket& bucket : options.buckets) {
    buckets_text_ +=
        " bucket " + std::to_string(bucket.frames_max) + " " + std::to_string(bucket.tokens_max);
  }
  return {};
}

Status Loader::weigh(const Weights& weights) {
  EpochOrderOptions& order = plan_options_.order;
  XTTS_ASSIGN(groups_, group_samples(clips(), selection_, weights));
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
  plan_options_.last = options.last_batch;
  for (const BatchLayout& layout : layouts_) {
    plan_options_.batch_sizes.push_back(layout.batch_size);
  }
  plan_options_.has_buckets = !options.buckets.empty();
  plan_options_.bucket_of_sample = bucket_of_sample_;

  const std::uint32_t threads =
      options.thread_count != 0 ? options.thread_count : source_->default_thread_count();
  // First, so that a feed that stages records in a device's memory takes what the slots leave.
  XTTS_ASSIGN(auto slots, make_slots(options.slot_count));
  XTTS_ASSIGN(feed_, source_->open_feed({.selection = selection_,
                                         .layouts = layouts_,
                                         .options = options,
                                         .device = *device_,
                                         .choose_clips = [this](std::uint64_t step) {
                                           return filler_->choose_clips(step);
                                         }}));
  filler_ = std::make_unique<BatchFiller>(
      *source_, *feed_, layouts_,
      BatchFillerOptions{.shuffle = order.shuffle,
                         .seed = order.seed,
                         .rank = options.rank,
                         .crop_frames = options.crop_frames,
                         .verify_records = options.verify_records,
                         .reads_host_memory = device_->reads_host_memory(),
                         .on_damage = options.on_damage,
                         .on_range = options.on_range});
  ring_ = std::make_unique<Ring>(*filler_, std::move(slots), threads, feed_->consumer());
  note_known_rejects(source_->unusable_positions());
  XTTS_TRY(begin_epoch(0, {}));
  no_batch_ = this_epoch_->whole_step_count() == 0;
  idle_options_ = idle_options(options, device_->id().kind == DeviceKind::kCuda);
  log_ = options.log;
  log_what_was_opened();
  return {};
}

// Each slot is large enough for a batch of any bucket.
Result<std::vector<std::unique_ptr<device::SlotMemory>>> Loader::make_slots(
    std::uint32_t slot_count) const {
  device::SlotBytes size;
  for (const BatchLayout& layout : layouts_) {
    size.staging = std::max(size.staging, layout.size.staging);
    size.host = std::max(size.host, layout.size.host);
    size.has_changes = size.has_changes || layout.size.has_changes;
  }
  std::vector<std::unique_ptr<device::SlotMemory>> slots;
  for (std::uint32_t i = 0; i < slot_count; ++i) {
    auto slot = device_->make_slot(size);
    if (!slot.ok()) {
      return Status(slot.status().code(),
                    slot.status().message() + " (the reader has " +
                        counted(slot_count, "slot", "slots") + ", each for a batch of " +
                        std::to_string(((size.staging + size.host) >> 20U) + 1) + " MiB)");
    }
    slots.push_back(std::move(*slot));
  }
  return slots;
}

// Releases fillers that wait for records before the ring waits for them.
Loader::~Loader() {
  if (feed_ != nullptr) feed_->stop();
}

// Plans the next epoch, too, because it is most often wanted next: its first batches are filled
// while the last ones of this epoch are used. Windows do not allow it: they are read in their time.
Status Loader::begin_epoch(std::uint64_t epoch, const Consumed& consumed) {
  rejected_ = source_->rejected();
  std::erase_if(rejected_, [this](std::uint64_t clip) { return !selection_.contains(clip); });
  if (!rejected_.empty()) XTTS_TRY(source_->check_rejects());
  note_known_rejects(rejected_);
  this_epoch_ = plan(epoch, consumed, 0);
  next_epoch_ = nullptr;
  if (feed_->may_begin_next_epoch()) {
    next_epoch_ = plan(epoch + 1, {}, this_epoch_->end_step());
  }
  filler_->set_epochs(this_epoch_, next_epoch_);
  feed_->begin_epoch(*this_epoch_);
  ring_->resume(0, (next_epoch_ ? next_epoch_ : this_epoch_)->end_step());
  return {};
}

std::shared_ptr<const EpochPlan> Loader::plan(std::uint64_t epoch, const Consumed& consumed,
                                              std::uint64_t first_step) const {
  return std::make_shared<EpochPlan>(selection_, plan_options_, epoch, consumed, first_step,
                                     rejected_);
}

void Loader::go_on_to_next_epoch() {
  // The finished plan goes first, so that memory holds two plans and not three. Nobody needs the
  // new one before the steps are extended.
  this_epoch_ = std::move(next_epoch_);
  filler_->set_epochs(this_epoch_, nullptr);
  next_epoch_ = plan(epoch_ + 2, {}, this_epoch_->end_step());
  filler_->set_epochs(this_epoch_, next_epoch_);
  ring_->extend(next_epoch_->end_step());
  ++epoch_;
  steps_taken_ = 0;
  forget_left_out();
}

std::uint64_t Loader::batches_per_epoch() const noexcept {
  return this_epoch_->whole_step_count();
}

// False where clips were rejected since the next epoch was planned: its plan would have gaps.
bool Loader::may_go_on_to_next_epoch() const {
  if (next_epoch_ == nullptr || steps_taken_ != this_epoch_->step_count() || !failure_.ok())
    return false;
  auto rejected = source_->rejected();
  std::erase_if(rejected, [this](std::uint64_t clip) { return !selection_.contains(clip); });
  return rejected == rejected_;
}

void Loader::set_epoch(std::uint64_t epoch) {
  const bool is_begun = steps_taken_ > 0 || !this_epoch_->is_whole();
  if (epoch == epoch_ && !is_begun && failure_.ok()) return;
  try {
    if (epoch == epoch_ + 1 && may_go_on_to_next_epoch()) return go_on_to_next_epoch();
  } catch (...) {
    // go_to() below begins the epoch anew and tells what is wrong.
  }
  go_to(epoch, {});
}

void Loader::go_to(std::uint64_t epoch, Consumed consumed) {
  feed_->stop();
  ring_->pause();
  epoch_ = epoch;
  steps_taken_ = 0;
  filler_->set_seed(plan_options_.order.seed);
  forget_last_interval();
  failure_ = Status();
  forget_left_out();
  try {
    failure_ = begin_epoch(epoch, consumed);
  } catch (...) {
    failure_ = status_of_current_exception();
  }
  if (!failure_.ok()) wanted_consumed_ = std::move(consumed);
}

void Loader::forget_last_interval() {
  const std::scoped_lock lock(stats_mutex_);
  intervals_.forget_last();
}

Result<std::optional<Lease>> Loader::next(std::optional<Ring::Clock::time_point> until) {
  if (!failure_.ok()) return failure_;
  if (!too_much_damage_.ok()) return too_much_damage_;
  if (steps_taken_ == this_epoch_->step_count()) {
    forget_last_interval();
    log_left_out();
    return std::optional<Lease>();
  }
  auto lease = ring_->next(until);
  // A failed batch counts as taken. kBusy (all slots are held) and kCancelled (a wait was ended)
  // take no batch.
  const StatusCode code = lease.status().code();
  if (code != StatusCode::kBusy && code != StatusCode::kCancelled) ++steps_taken_;
  if (!lease.ok()) {
    if (is_damage(lease.status())) note_damage(lease.status().message());
    return lease;
  }
  const BatchSlot& slot = ***lease;
  for (const FoundDamage& found : slot.found.damage) report_damage(found);
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
  sample_count_taken_ += slot.clips.positions.size();
  cache_hits_ += slot.clips.positions.size() -
                 std::min<std::uint64_t>(slot.found.read_count, slot.clips.positions.size());
  bytes_ += slot.finished.true_bytes;
  for (std::size_t row = 0; row < slot.clips.positions.size(); ++row)
    saturated_count_ += slot.found.saturated[row].count;
  if (is_in_place) ++batches_in_place_;
  if (stats_file_ != nullptr && stats_file_->is_due(now)) {
    const double waited_s = std::chrono::duration<double>(ring_->waits().consumer).count();
    stats_file_->write(now, {.batches = batch_count_,
                             .samples = sample_count_taken_,
                             .bytes = bytes_,
                             .consumer_wait_s = waited_s});
  }
}

void Loader::report_damage(const FoundDamage& found) {
  if (!found.is_reject) return note_damage(found.text);
  log(LogLevel::kInfo, found.text);
}

void Loader::note_known_rejects(const std::vector<std::uint64_t>& positions) {
  const std::scoped_lock lock(stats_mutex_);
  for (const std::uint64_t position : positions) {
    if (!is_left_out_.insert(position).second) continue;
    left_out_.push_back(position);
    ++left_out_count_;
  }
}

void Loader::note_damage(const std::string& text) {
  log(LogLevel::kWarning, text);
  const std::scoped_lock lock(stats_mutex_);
  ++damage_count_;
  if (first_damage_.size() < kDamageTextsMax) first_damage_.push_back(text);
}

// Drops the user's log function once it throws. Its exception does not leave this function.
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
  const FeedWords words = feed_->words();
  log(LogLevel::kInfo, "storage: " + words.storage);
  log(LogLevel::kInfo, "reading: " + words.reading);
  if (const std::string facts = device_->facts(); !facts.empty())
    log(LogLevel::kInfo, "device: " + facts);
  if (const std::string text = notice(); !text.empty()) log(LogLevel::kNotice, text);
}

// Tells at an epoch's end what it has left out.
void Loader::log_left_out() {
  if (!log_ || first_left_out_.empty()) return;
  const std::string remedy = source_->remedy();
  log(LogLevel::kWarning, "epoch " + std::to_string(epoch_) + " has left out " +
                              std::to_string(epoch_left_out_count_) + " of " +
                              counted(epoch_sample_count(), "clip", "clips") +
                              (remedy.empty() ? "" : ". " + remedy));
  first_left_out_.clear();
}

// One rank's share of an epoch. Weighted draws count as often as they are drawn.
std::uint64_t Loader::epoch_sample_count() const noexcept {
  return plan_options_.order.sample_count / plan_options_.world_size;
}

Status Loader::count_left_out(const BatchSlot& slot) {
  if (slot.finished.left_out_count == 0) return {};
  {
    const std::scoped_lock lock(stats_mutex_);
    left_out_count_ += slot.finished.left_out_count;
    epoch_left_out_count_ += slot.finished.left_out_count;
    for (const FoundDamage& damage : slot.found.damage) {
      if (is_left_out_.insert(damage.position).second) left_out_.push_back(damage.position);
    }
  }
  XTTS_TRY(source_->check_rejects());
  if (first_left_out_.empty()) first_left_out_ = slot.found.damage.front().text;
  if (!skips_damage_) return {};
  const std::uint64_t sample_count = epoch_sample_count();
  const auto lost = static_cast<double>(epoch_left_out_count_);
  if (lost <= max_damage_ * static_cast<double>(sample_count)) return {};
  too_much_damage_ = {
      StatusCode::kCorrupt,
      "epoch " + std::to_string(epoch_) + " has left out " + std::to_string(epoch_left_out_count_) +
          " of " + counted(sample_count, "clip", "clips") + ", more than max_damage allows (" +
          in_percent(max_damage_) + "). The first: " + first_left_out_ + ". " + source_->remedy()};
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
  Consumed consumed = failure_.ok() ? this_epoch_->consumed_after(steps_taken_) : wanted_consumed_;
  if (plan_options_.has_buckets) consumed.by_bucket.resize(layouts_.size());
  return {.order_version = kOrderVersion,
          .seed = plan_options_.order.seed,
          .epoch = epoch_,
          .samples_consumed = consumed.sample_count(),
          .bucket_samples_consumed = std::move(consumed.by_bucket),
          .cache = clips().digest(),
          .selection = selection_digest()};
}

Status Loader::load_state(const ReaderState& state) {
  if (state.order_version != kOrderVersion) {
    return {StatusCode::kUnsupported,
            "the state is of order version " + std::to_string(state.order_version) +
                "; this build knows version 1: begin the epoch anew with set_epoch()"};
  }
  if (state.cache != clips().digest()) {
    return {StatusCode::kMismatch, source_->state_mismatch_message(state.cache)};
  }
  const std::size_t bucket_count = plan_options_.has_buckets ? layouts_.size() : 0;
  if (state.selection != selection_digest() ||
      !is_possible(state, plan_options_.order.sample_count, bucket_count)) {
    return {StatusCode::kMismatch,
            "the state is of a reader with other clips or another shuffle: open the reader with "
            "the options of then, or begin the epoch anew with set_epoch()"};
  }
  plan_options_.order.seed = state.seed;
  go_to(state.epoch, {.place_count = bucket_count > 0 ? 0 : state.samples_consumed,
                      .by_bucket = state.bucket_samples_consumed});
  return {};
}

// Tells what the system did not grant, what would suit the storage better, which options do
// nothing, and that there is no batch.
std::string Loader::notice() const {
  std::string text;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  };
  if (no_batch_) {
    const std::uint64_t clips = selection_.size();
    add("an epoch has no batch: " +
        (clips == 0 ? "no clip is chosen"
                    : counted(clips, "clip does not fill one", "clips do not fill one") +
                          " on each rank, and last_batch drops the rest: ask for a smaller "
                          "batch_size, or keep the rest"));
  }
  add(idle_options_);
  add(device_->shortfall());
  add(feed_->words().notice);
  return text;
}

std::vector<std::uint64_t> Loader::left_out() const {
  const std::scoped_lock lock(stats_mutex_);
  return left_out_;
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
    stats.saturated_count = saturated_count_;
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
  FeedWords words = feed_->words();
  stats.storage = std::move(words.storage);
  stats.reading = std::move(words.reading);
  return stats;
}

}  // namespace xtts::loader
