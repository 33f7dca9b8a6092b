#include "loader/bucket_steps.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

bool fits(const formats::PlanRow& clip, const Bucket& bucket) {
  const bool is_short_enough = bucket.frames_max == 0 || clip.mel_len <= bucket.frames_max;
  const bool has_few_tokens = bucket.tokens_max == 0 || clip.text_len <= bucket.tokens_max;
  return is_short_enough && has_few_tokens;
}

}  // namespace

Status check_buckets(std::span<const Bucket> buckets) {
  if (buckets.size() > kBucketsMax) {
    return {StatusCode::kInvalidArgument,
            formatted("there are {} buckets: give at most 32", buckets.size())};
  }
  return {};
}

Result<std::vector<std::uint8_t>> assign_buckets(const reader::ClipSet& clips,
                                                 const Selection& selection,
                                                 std::span<const Bucket> buckets) {
  XTTS_TRY(check_buckets(buckets));
  std::vector<std::uint8_t> bucket_of_sample;
  bucket_of_sample.reserve(selection.size());
  std::uint64_t homeless_count = 0;
  std::uint32_t frames_max = 0;
  std::uint32_t tokens_max = 0;
  std::array<formats::PlanRow, 128> rows;
  for (const PositionRange& range : selection.positions_of(0, selection.size())) {
    for (std::uint64_t done = 0; done < range.count; done += rows.size()) {
      const auto now =
          static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), range.count - done));
      const auto some = std::span(rows).first(now);
      XTTS_TRY(clips.plan_rows(range.first_position + done, some));
      for (const formats::PlanRow& clip : some) {
        const auto found =
            std::ranges::find_if(buckets, [&](const Bucket& bucket) { return fits(clip, bucket); });
        bucket_of_sample.push_back(static_cast<std::uint8_t>(found - buckets.begin()));
        if (found != buckets.end()) continue;
        ++homeless_count;
        frames_max = std::max(frames_max, clip.mel_len);
        tokens_max = std::max(tokens_max, clip.text_len);
      }
    }
  }
  if (homeless_count > 0) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} of {} fit into no bucket (up to {}, {}): add a bucket without limits at the "
                  "end, or leave them out with where=\"frames <= ...\"",
                  homeless_count, counted(selection.size(), "clip", "clips"),
                  counted(frames_max, "frame", "frames"), counted(tokens_max, "token", "tokens")));
  }
  return bucket_of_sample;
}

BucketSteps::BucketSteps(const EpochSequence& sequence,
                         std::span<const std::uint8_t> bucket_of_sample, BucketStepsOptions options)
    : options_(std::move(options)) {
  const std::size_t bucket_count = options_.batch_sizes.size();
  options_.consumed.resize(bucket_count);
  const std::uint64_t place_count = sequence.order().sample_count();
  const auto bucket_at = [&](std::uint64_t place) {
    return bucket_of_sample[sequence.sample_at(place)];
  };
  std::vector<std::uint8_t> buckets(place_count);
  std::vector<std::uint64_t> begins(bucket_count + 1);  // of each bucket in the queue
  for (std::uint64_t place = 0; place < place_count; ++place) {
    buckets[place] = bucket_at(place);
    assert(buckets[place] < bucket_count);
    ++begins[buckets[place] + std::size_t{1}];
  }
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    begins[bucket + 1] += begins[bucket];
  }
  queue_.resize(place_count);
  std::vector<std::uint64_t> ends(begins.begin(), begins.end() - 1);
  for (std::uint64_t place = 0; place < place_count; ++place) {
    queue_[ends[buckets[place]]++] = place;
  }
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    cut(static_cast<std::uint8_t>(bucket), begins[bucket], begins[bucket + 1]);
  }
  std::ranges::sort(steps_, {}, &Step::last_place);
  if (options_.last == LastBatch::kPad) {
    steps_.insert(steps_.end(), incomplete_.begin(), incomplete_.end());
  }
  incomplete_.clear();
  first_place_ = place_count;
  for (const Step& step : steps_) first_place_ = std::min(first_place_, queue_[step.first]);
}

// Cuts the rest of a bucket's queue into steps, each with one batch for every rank.
void BucketSteps::cut(std::uint8_t bucket, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t size = std::uint64_t{options_.batch_sizes[bucket]} * options_.world_size;
  const bool pads = options_.last == LastBatch::kPad;
  whole_step_count_ += (end - begin) / size + (pads && (end - begin) % size != 0 ? 1 : 0);
  std::uint64_t& consumed = options_.consumed[bucket];
  consumed = std::min(consumed, end - begin);
  std::uint64_t first = begin + consumed;
  for (; end - first >= size; first += size) {
    steps_.push_back({first, size, queue_[first + size - 1], bucket});
  }
  if (first < end) incomplete_.push_back({first, end - first, queue_[end - 1], bucket});
}

std::span<const std::uint64_t> BucketSteps::places_of(std::uint64_t step,
                                                      std::uint32_t rank) const noexcept {
  const Step& taken = steps_[step];
  const std::uint64_t batch = options_.batch_sizes[taken.bucket];
  const std::uint64_t begin = std::min(rank * batch, taken.count);
  const std::uint64_t end = std::min(begin + batch, taken.count);
  return std::span(queue_).subspan(taken.first + begin, end - begin);
}

std::vector<std::uint64_t> BucketSteps::consumed_after(std::uint64_t step) const {
  std::vector<std::uint64_t> consumed = options_.consumed;
  for (std::uint64_t i = 0; i < step && i < steps_.size(); ++i) {
    consumed[steps_[i].bucket] += steps_[i].count;
  }
  return consumed;
}

}  // namespace xtts::loader
