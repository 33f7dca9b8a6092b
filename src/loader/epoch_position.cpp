#include "loader/epoch_position.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "loader/option_rules.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kOrderVersion = 1;

std::string digest_of(const Selection& selection, const EpochOrderOptions& order,
                      const ReaderOptions& options) {
  std::string text = selection.digest().to_hex();
  text += order.shuffle == Shuffle::kNone ? " none"
          : order.shuffle == Shuffle::kGlobal
              ? " global"
              : formatted(" window {} {}", order.stretch_samples, order.stretches_per_window);
  if (options.weights) {
    text += formatted(" weights {} {} {}", static_cast<int>(options.weights->by),
                      std::to_string(options.weights->temperature), order.sample_count);
  }
  for (const Bucket& bucket : options.buckets) {
    text += formatted(" bucket {} {}", bucket.frames_max, bucket.tokens_max);
  }
  return digest128(text).to_hex();
}

}  // namespace

Result<std::unique_ptr<EpochPosition>> EpochPosition::open(const RecordSource& source,
                                                           std::span<const BatchLayout> layouts,
                                                           const ReaderOptions& options) {
  std::unique_ptr<EpochPosition> position(new EpochPosition(source));
  XTTS_TRY(position->choose(layouts, options));
  return position;
}

Status EpochPosition::choose(std::span<const BatchLayout> layouts, const ReaderOptions& options) {
  const reader::ClipSet& clips = source_.clips();
  XTTS_ASSIGN(selection_, Selection::choose(clips, options, source_.unusable_positions()));
  plan_options_.has_buckets = !options.buckets.empty();
  if (plan_options_.has_buckets) {
    XTTS_ASSIGN(bucket_of_sample_, assign_buckets(clips, selection_, options.buckets));
  }
  plan_options_.bucket_of_sample = bucket_of_sample_;
  for (const BatchLayout& layout : layouts) plan_options_.batch_sizes.push_back(layout.batch_size);
  plan_options_.world_size = options.world_size;
  plan_options_.last = options.last_batch;
  const Stretches stretches = chosen_stretches(options, layouts.front());
  EpochOrderOptions& order = plan_options_.order;
  order = {.sample_count = selection_.size(),
           .shuffle = options.shuffle,
           .seed = options.seed,
           .stretch_samples = stretches.samples,
           .stretches_per_window = stretches.per_window};
  if (options.weights) {
    XTTS_ASSIGN(groups_, group_samples(clips, selection_, *options.weights));
    order.sample_count = groups_->draw_count;
    plan_options_.groups = &*groups_;
  }
  digest_ = digest_of(selection_, order, options);
  return {};
}

void EpochPosition::go_to(std::uint64_t epoch, Consumed consumed) {
  epoch_ = epoch;
  consumed_ = std::move(consumed);
  steps_taken_ = 0;
  failure_ = Status();
}

Status EpochPosition::load(const ReaderState& state) {
  if (state.order_version != kOrderVersion) {
    return {StatusCode::kUnsupported,
            formatted("the state is of order version {}; this build knows version 1: begin the "
                      "epoch anew with set_epoch()",
                      state.order_version)};
  }
  if (state.cache != source_.clips().digest()) {
    return {StatusCode::kMismatch, source_.state_mismatch_message(state.cache)};
  }
  const bool has_buckets = plan_options_.has_buckets;
  if (state.selection != digest_ ||
      !is_possible(state, samples_per_epoch(),
                   has_buckets ? plan_options_.batch_sizes.size() : 0)) {
    return {StatusCode::kMismatch,
            "the state is of a reader with other clips or another shuffle: open the reader with "
            "the options of then, or begin the epoch anew with set_epoch()"};
  }
  plan_options_.order.seed = state.seed;
  go_to(state.epoch, {.place_count = has_buckets ? 0 : state.samples_consumed,
                      .by_bucket = state.bucket_samples_consumed});
  return {};
}

// Plans the next epoch, too, because it is most often wanted next: its first batches are filled
// while the last ones of this epoch are used.
Status EpochPosition::begin(bool plans_next_epoch) {
  rejected_ = chosen_rejects();
  if (!rejected_.empty()) XTTS_TRY(source_.check_rejects());
  this_epoch_ = plan(epoch_, consumed_, 0);
  next_epoch_ = nullptr;
  if (plans_next_epoch) next_epoch_ = plan(epoch_ + 1, {}, this_epoch_->end_step());
  return {};
}

bool EpochPosition::may_enter_next_epoch() const {
  return next_epoch_ != nullptr && is_at_end() && failure_.ok() && chosen_rejects() == rejected_;
}

void EpochPosition::enter_next_epoch() {
  this_epoch_ = std::move(next_epoch_);
  next_epoch_ = plan(epoch_ + 2, {}, this_epoch_->end_step());
  ++epoch_;
  steps_taken_ = 0;
}

std::vector<std::uint64_t> EpochPosition::chosen_rejects() const {
  auto rejected = source_.rejected();
  std::erase_if(rejected, [this](std::uint64_t clip) { return !selection_.contains(clip); });
  return rejected;
}

std::shared_ptr<const EpochPlan> EpochPosition::plan(std::uint64_t epoch, const Consumed& consumed,
                                                     std::uint64_t first_step) const {
  return std::make_shared<EpochPlan>(selection_, plan_options_, epoch, consumed, first_step,
                                     rejected_);
}

ReaderState EpochPosition::state() const {
  Consumed consumed = failure_.ok() ? this_epoch_->consumed_after(steps_taken_) : consumed_;
  if (plan_options_.has_buckets) consumed.by_bucket.resize(plan_options_.batch_sizes.size());
  return {.order_version = kOrderVersion,
          .seed = seed(),
          .epoch = epoch_,
          .samples_consumed = consumed.sample_count(),
          .bucket_samples_consumed = std::move(consumed.by_bucket),
          .cache = source_.clips().digest(),
          .selection = digest_};
}

}  // namespace xtts::loader
