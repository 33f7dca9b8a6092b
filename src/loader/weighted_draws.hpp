// WeightedDraws: epochs in which groups of samples (data sets, languages, speakers) come as often
// as weights say, whatever their sizes (formats/order-v1.md). An epoch is a fixed number of draws,
// shared out among the groups exactly. All samples of a group come in a shuffled order before any
// of them comes again. This goes on over epochs: a group with fewer draws than samples continues in
// the next one.
//
// Draws are numbered 0 ... N-1, group after group. To shuffle them, use an EpochOrder over N
// samples (kGlobal): its samples are numbers of draws then. It holds two numbers a group.
// Immutable, share freely. make() fails with kInvalidArgument.
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

// Computes how many draws each group gets: in proportion to the weights, rounded by the method of
// largest remainders. Of equal remainders, the lower group's comes first. A group without samples
// gets nothing.
//
// It computes in integers: a power of two scales the weights so that the largest has 53 bits, and
// fractions are dropped. It fails unless there is one weight for each group, all weights are finite
// and not negative, and a group with samples has a positive one. It also fails above kOrderSizeMax
// draws, or samples in a group.
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
  // Copies what it needs of the options. Fails as share_draws() does.
  [[nodiscard]] static Result<WeightedDraws> make(const WeightedDrawsOptions& options);

  [[nodiscard]] std::uint64_t draw_count() const noexcept { return first_draws_.back(); }
  // `number` is below draw_count().
  [[nodiscard]] Draw draw(std::uint64_t number) const noexcept;

 private:
  WeightedDraws(std::vector<std::uint64_t> sample_counts, std::vector<std::uint64_t> first_draws,
                std::uint64_t seed, std::uint64_t epoch)
      : sample_counts_(std::move(sample_counts)),
        first_draws_(std::move(first_draws)),
        key_(epoch_key(seed, 0)),
        epoch_(epoch) {}

  std::vector<std::uint64_t> sample_counts_;
  std::vector<std::uint64_t> first_draws_;  // of each group; then the end of all draws
  std::uint64_t key_;                       // of epoch 0: passes are counted over all epochs
  std::uint64_t epoch_;
};

// Weights of count^temperature: 1 is as in the corpus, and 0 makes all groups alike. `temperature`
// is from 0 to 16. It is the exponent (alpha in the literature on multilingual models), not its
// inverse, which some call temperature, too. A group without samples weighs 0.
//
// Powers that the C library computes are rounded to 24 bits. Their last bit differs between
// processors, but ranks must agree.
[[nodiscard]] std::vector<double> temperature_weights(std::span<const std::uint64_t> sample_counts,
                                                      double temperature);

}  // namespace xtts::loader
