// EpochSequence: the clip at each place of an epoch. It has the samples of a selection in the
// epoch's order, or weighted draws from groups of them. Immutable, share freely. What it is made
// from must outlive it. group_samples() fails with kInvalidArgument (impossible weights), kCorrupt
// and kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loader/epoch_order.hpp"
#include "loader/selection.hpp"
#include "loader/weighted_draws.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

// The samples of each language, speaker or data set, in the order of its number in the cache.
// Samples without one come first. They take 8 bytes a sample.
struct SampleGroups {
  std::vector<std::vector<std::uint64_t>> samples;
  std::vector<std::uint64_t> counts;
  std::vector<double> weights;
  std::uint64_t draw_count = 0;  // of an epoch
};

[[nodiscard]] Status check_weights(const Weights& weights);
[[nodiscard]] Result<SampleGroups> group_samples(const reader::ClipSet& clips,
                                                 const Selection& selection,
                                                 const Weights& weights);

class EpochSequence {
 public:
  // With groups, the order is over their draws. `groups` may be null: then each sample comes once.
  EpochSequence(const Selection& selection, const SampleGroups* groups,
                const EpochOrderOptions& options);

  // `place` is below the order's sample_count().
  [[nodiscard]] std::uint64_t sample_at(std::uint64_t place) const noexcept;
  [[nodiscard]] std::uint64_t position_at(std::uint64_t place) const noexcept;
  [[nodiscard]] const EpochOrder& order() const noexcept { return order_; }

 private:
  const Selection* selection_;
  const SampleGroups* groups_;
  EpochOrder order_;
  std::optional<WeightedDraws> draws_;
};

}  // namespace xtts::loader
