#include "loader/loader.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "loader/option_rules.hpp"

namespace xtts::loader {
namespace {

void add_notice(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
}

std::string no_batch_notice(std::uint64_t clip_count) {
  return "an epoch has no batch: " +
         (clip_count == 0 ? "no clip is chosen"
                          : counted(clip_count, "clip does not fill one", "clips do not fill one") +
                                " on each rank, and last_batch drops the rest: ask for a smaller "
                                "batch_size, or keep the rest");
}

}  // namespace

Result<std::unique_ptr<Loader>> Loader::open(std::shared_ptr<RecordSource> source,
                                             const ReaderOptions& options) {
  XTTS_TRY(check_options(options));
  XTTS_TRY(source->check_options(options));
  std::unique_ptr<Loader> loader(new Loader(std::move(source), options));
  XTTS_TRY(loader->lay_out(options));
  XTTS_ASSIGN(loader->device_,
              device::Device::open(options.device,
                                   {.lock_memory = options.lock_memory,
                                    .gpu_memory_bytes = options.device_memory_bytes,
                                    .data_device = options.data_device,
                                    .data_gpu_memory_bytes = options.data_device_memory_bytes}));
  XTTS_TRY(loader->source_->prepare(options));  // may take hours where clips are computed
  XTTS_ASSIGN(loader->position_, EpochPosition::open(*loader->source_, loader->layouts_, options));
  XTTS_TRY(loader->start(options));
  return loader;
}

Loader::Loader(std::shared_ptr<RecordSource> source, const ReaderOptions& options)
    : source_(std::move(source)),
      losses_(*source_, options.on_damage == OnDamage::kSkip ? std::optional(options.max_damage)
                                                             : std::nullopt) {}

Status Loader::lay_out(const ReaderOptions& options) {
  const reader::ClipSet& clips = source_->clips();
  const auto columns = chosen_columns(options, clips);
  if (options.crop_frames > 0 && clips.whole().max_frames() == 0)
    return {StatusCode::kNotFound, "crop_frames: the cache's records have no frames"};
  const Bucket only_one{.batch_size = options.batch_size, .frames_max = options.crop_frames};
  const auto buckets =
      options.buckets.empty() ? std::span(&only_one, 1) : std::span(options.buckets);
  for (const Bucket& bucket : buckets) {
    XTTS_ASSIGN(auto layout, BatchLayout::plan(clips, columns, bucket.batch_size,
                                               {.frames_max = bucket.frames_max,
                                                .tokens_max = bucket.tokens_max}));
    layouts_.push_back(std::move(layout));
  }
  return {};
}

Status Loader::start(const ReaderOptions& options) {
  const std::uint32_t threads =
      options.thread_count != 0 ? options.thread_count : source_->default_thread_count();
  // First, so that a feed that stages records in a device's memory takes what the slots leave.
  XTTS_ASSIGN(auto slots, make_slots(options.slot_count));
  XTTS_ASSIGN(feed_, source_->open_feed({.selection = position_->selection(),
                                         .layouts = layouts_,
                                         .options = options,
                                         .device = *device_,
                                         .choose_clips = [this](std::uint64_t step) {
                                           return filler_->choose_clips(step);
                                         }}));
  filler_ = std::make_unique<BatchFiller>(
      *source_, *feed_, layouts_,
      BatchFillerOptions{.shuffle = options.shuffle,
                         .seed = options.seed,
                         .rank = options.rank,
                         .crop_frames = options.crop_frames,
                         .verify_records = options.verify_records,
                         .reads_host_memory = device_->reads_host_memory(),
                         .on_damage = options.on_damage,
                         .on_range = options.on_range});
  ring_ = std::make_unique<Ring>(*filler_, std::move(slots), threads, feed_->consumer());
  losses_.note_known_rejects(source_->unusable_positions());
  XTTS_TRY(begin_epoch());
  if (batches_per_epoch() == 0) opening_notice_ = no_batch_notice(sample_count());
  add_notice(opening_notice_, idle_options(options, device_->id().kind == DeviceKind::kCuda));
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
      return Status(
          slot.status().code(),
          formatted("{} (the reader has {}, each for a batch of {} MiB)", slot.status().message(),
                    counted(slot_count, "slot", "slots"), ((size.staging + size.host) >> 20U) + 1));
    }
    slots.push_back(std::move(*slot));
  }
  return slots;
}

// Releases fillers that wait for records before the ring waits for them.
Loader::~Loader() {
  if (feed_ != nullptr) feed_->stop();
}

// Windows do not allow steps of the next epoch: they are read in their time.
Status Loader::begin_epoch() {
  losses_.begin_epoch(epoch(), position_->samples_per_rank());
  XTTS_TRY(position_->begin(feed_->may_begin_next_epoch()));
  losses_.note_known_rejects(position_->rejected());
  filler_->set_epochs(position_->this_epoch(), position_->next_epoch());
  feed_->begin_epoch(*position_->this_epoch());
  ring_->resume(0, position_->end_step());
  return {};
}

void Loader::go_on_to_next_epoch() {
  // The filler lets go of the finished plan first. Nobody needs a new one before the steps are
  // extended.
  filler_->set_epochs(position_->next_epoch(), nullptr);
  position_->enter_next_epoch();
  filler_->set_epochs(position_->this_epoch(), position_->next_epoch());
  ring_->extend(position_->end_step());
  losses_.begin_epoch(epoch(), position_->samples_per_rank());
}

void Loader::set_epoch(std::uint64_t epoch) {
  if (epoch == position_->epoch() && position_->is_at_start()) return;
  try {
    if (epoch == position_->epoch() + 1 && position_->may_enter_next_epoch())
      return go_on_to_next_epoch();
  } catch (...) {
    // restart() below begins the epoch anew and tells what is wrong.
  }
  position_->go_to(epoch);
  restart();
}

Status Loader::load_state(const ReaderState& state) {
  XTTS_TRY(position_->load(state));
  restart();
  return {};
}

// Begins where the position went.
void Loader::restart() {
  feed_->stop();
  ring_->pause();
  filler_->set_seed(position_->seed());
  counters_.forget_last_interval();
  try {
    position_->set_failure(begin_epoch());
  } catch (...) {
    position_->set_failure(status_of_current_exception());
  }
}

Result<std::optional<Lease>> Loader::next(std::optional<Ring::Clock::time_point> until) {
  XTTS_TRY(position_->failure());
  XTTS_TRY(losses_.failure());
  if (position_->is_at_end()) {
    counters_.forget_last_interval();
    log_left_out();
    return std::optional<Lease>();
  }
  auto lease = ring_->next(until);
  // A failed batch counts as taken. kBusy (all slots are held) and kCancelled (a wait was ended)
  // take no batch.
  const StatusCode code = lease.status().code();
  if (code != StatusCode::kBusy && code != StatusCode::kCancelled) position_->take_step();
  if (!lease.ok()) {
    if (is_damage(lease.status())) note_damage(lease.status().message());
    return lease;
  }
  const BatchSlot& slot = ***lease;
  for (const FoundDamage& found : slot.found.damage) report_damage(found);
  XTTS_TRY(losses_.count(slot));
  counters_.count(slot, *ring_);
  return lease;
}

void Loader::report_damage(const FoundDamage& found) {
  if (!found.is_reject) return note_damage(found.text);
  log(LogLevel::kInfo, found.text);
}

void Loader::note_damage(const std::string& text) {
  log(LogLevel::kWarning, text);
  losses_.note_damage(text);
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
  if (!log_) return;
  if (const std::string text = losses_.report(); !text.empty()) log(LogLevel::kWarning, text);
}

// Tells what the system did not grant, what would suit the storage better, which options do
// nothing, and that there is no batch.
std::string Loader::notice() const {
  std::string text = opening_notice_;
  add_notice(text, device_->shortfall());
  add_notice(text, feed_->words().notice);
  return text;
}

ReaderStats Loader::stats() const {
  const RingWaits waits = ring_->waits();
  ReaderStats stats = counters_.stats();
  losses_.add_to(stats);
  stats.consumer_wait_s = std::chrono::duration<double>(waits.consumer).count();
  stats.filler_wait_s = std::chrono::duration<double>(waits.fillers).count();
  stats.epoch_sample_count = position_->samples_per_rank();
  stats.notice = notice();
  FeedWords words = feed_->words();
  stats.storage = std::move(words.storage);
  stats.reading = std::move(words.reading);
  return stats;
}

}  // namespace xtts::loader
