// Epochs in which groups of samples (data sets, languages, speakers) come as often as weights say,
// whatever their sizes (formats/order-v1.md). An epoch is a fixed number of draws, shared out among
// the groups exactly; a group is gone through whole, in a shuffled order, before any of its samples
// comes again, from epoch to epoch: a group with fewer draws than samples continues in the next
// one.
//
// Draws are numbered 0 ... N-1, group after group: shuffle them with an EpochOrder over N samples
// (kGlobal), whose samples then are numbers of draws. Holds two numbers a group. Immutable; share
// freely. make() fails with kInvalidArgument.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "loader/bijection.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

struct Draw {
  std::uint64_t group = 0;
  std::uint64_t index = 0;  // within the group

  friend bool operator==(const Draw&, const Draw&) = default;
};

// How many draws each group gets: in proportion to the weights, rounded by the method of largest
// remainders (of equal remainders, the lower group's first). Computed in integers: the weights are
// scaled by a power of two so that the largest has 53 bits, and what is below 1 then is dropped. A
// group without samples gets nothing. Fails unless there is a weight a group, each finite and not
// negative, and one that is positive for a group with samples; and above kOrderSizeMax draws, or
// samples in a group.
[[nodiscard]] Result<std::vector<std::uint64_t>> share_draws(
    std::span<const std::uint64_t> sample_counts, std::span<const double> weights,
    std::uint64_t draw_count);

struct WeightedDrawsOptions {
  std::span<const std::uint64_t> sample_counts;  // of each group
  std::span<const double> weights;               // of each group
  std::uint64_t draw_count = 0;                  // N
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

class WeightedDraws {
 public:
  // Nothing of the options is kept but what was copied. Fails as share_draws().
  [[nodiscard]] static Result<WeightedDraws> make(const WeightedDrawsOptions& options);

  [[nodiscard]] std::uint64_t draw_count() const noexcept { return first_draws_.back(); }
  // Of a number below draw_count().
  [[nodiscard]] Draw draw(std::uint64_t number) const noexcept;

 private:
  WeightedDraws(std::vector<std::uint64_t> sample_counts, std::vector<std::uint64_t> first_draws,
                std::uint64_t seed, std::uint64_t epoch)
      : sample_counts_(std::move(sample_counts)),
        first_draws_(std::move(first_draws)),
        key_(epoch_key(seed, 0)),
        epoch_(epoch) {}

  std::vector<std::uint64_t> sample_counts_;
  std::vector<std::uint64_t> first_draws_;  // of each group, then their end
  std::uint64_t key_;                       // of the seed: passes are counted over all epochs
  std::uint64_t epoch_;
};

// Weights between the corpus as it is and all groups alike: count^temperature, so 1 is as in the
// corpus and 0 makes all groups alike. This is the exponent (alpha in the literature on
// multilingual models), not its inverse, which some call temperature as well. A group without
// samples weighs 0. `temperature` is from 0 to 16. Rounded to 24 bits where the C library computes
// the power, whose last bit differs between processors, but ranks must agree.
[[nodiscard]] std::vector<double> temperature_weights(std::span<const std::uint64_t> sample_counts,
                                                      double temperature);

}  // namespace xtts::loader
