// BucketSteps: the steps of an epoch whose batches hold clips of like length. Each batch holds the
// clips of one bucket, and a step has the same bucket on all ranks (formats/order-v1.md, §7).
//
// BucketSteps is immutable, share freely. It takes 8 bytes a sample and some a step. Failures:
// kInvalidArgument (impossible buckets, or clips that fit into none), kCorrupt, kResource.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loader/epoch_sequence.hpp"
#include "loader/selection.hpp"
#include "loader/steps.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

inline constexpr std::size_t kBucketsMax = 32;

[[nodiscard]] Status check_buckets(std::span<const Bucket> buckets);
// Returns, by sample, the first bucket that the clip fits into.
[[nodiscard]] Result<std::vector<std::uint8_t>> assign_buckets(const reader::ClipSet& clips,
                                                               const Selection& selection,
                                                               std::span<const Bucket> buckets);

struct BucketStepsOptions {
  std::vector<std::uint32_t> batch_sizes;  // of one rank, by bucket
  // By bucket: how many of its clips an earlier run took. More than the bucket has means all.
  std::vector<std::uint64_t> consumed;
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;
};

class BucketSteps {
 public:
  // `bucket_of_sample` comes from assign_buckets(). Reads the whole sequence.
  BucketSteps(const EpochSequence& sequence, std::span<const std::uint8_t> bucket_of_sample,
              BucketStepsOptions options);

  [[nodiscard]] std::uint64_t step_count() const noexcept { return steps_.size(); }
  // The steps of the whole epoch, whatever was consumed of it.
  [[nodiscard]] std::uint64_t whole_step_count() const noexcept { return whole_step_count_; }
  // `step` is below step_count().
  [[nodiscard]] std::uint8_t bucket_of(std::uint64_t step) const noexcept {
    return steps_[step].bucket;
  }
  // The places that `rank`, which is below world_size, has in the step: ascending, perhaps none.
  [[nodiscard]] std::span<const std::uint64_t> places_of(std::uint64_t step,
                                                         std::uint32_t rank) const noexcept;
  // The `consumed` of a run that continues after all ranks have taken the steps below `step`.
  [[nodiscard]] std::vector<std::uint64_t> consumed_after(std::uint64_t step) const;
  // The lowest place that is still to come. If none is: the number of places.
  [[nodiscard]] std::uint64_t first_place() const noexcept { return first_place_; }

 private:
  struct Step {
    std::uint64_t first = 0;  // in `queue_`
    std::uint64_t count = 0;
    std::uint64_t last_place = 0;
    std::uint8_t bucket = 0;
  };
  void cut(std::uint8_t bucket, std::uint64_t begin, std::uint64_t end);

  BucketStepsOptions options_;
  std::vector<std::uint64_t> queue_;  // the places of bucket after bucket, ascending in each
  std::vector<Step> steps_;
  std::vector<Step> incomplete_;  // while steps are made
  std::uint64_t first_place_ = 0;
  std::uint64_t whole_step_count_ = 0;
};

}  // namespace xtts::loader
