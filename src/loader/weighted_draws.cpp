#include "loader/weighted_draws.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <string>

#include "base/formatted.hpp"
#include "loader/bijection.hpp"

namespace xtts::loader {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kWeightBits = 53;  // a double's: the largest weight is kept as it is
constexpr int kPowerBits = 24;

Status refuse_weights(const std::string& reason) {
  return {StatusCode::kInvalidArgument, reason};
}

Status check_weights(std::span<const std::uint64_t> sample_counts, std::span<const double> weights,
                     std::uint64_t draw_count) {
  if (sample_counts.size() != weights.size())
    return refuse_weights(
        formatted("{} weights for {} groups", weights.size(), sample_counts.size()));
  if (draw_count > kOrderSizeMax)
    return refuse_weights(formatted("{} draws are too many for an epoch", draw_count));
  for (std::size_t g = 0; g < weights.size(); ++g) {
    if (!std::isfinite(weights[g]) || weights[g] < 0.0)
      return refuse_weights(formatted("the weight of group {} is {}: not a number from 0 on", g,
                                      std::to_string(weights[g])));
    if (sample_counts[g] > kOrderSizeMax)
      return refuse_weights(formatted("group {} has too many samples", g));
  }
  return {};
}

// The scaled weights of the groups that have samples. All are 0 where no such group has a weight.
std::vector<std::uint64_t> integer_weights(std::span<const std::uint64_t> sample_counts,
                                           std::span<const double> weights) {
  double largest = 0.0;
  for (std::size_t g = 0; g < weights.size(); ++g)
    if (sample_counts[g] > 0) largest = std::max(largest, weights[g]);
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  std::vector<std::uint64_t> scaled(weights.size(), 0);
  for (std::size_t g = 0; g < weights.size(); ++g) {
    if (sample_counts[g] == 0) continue;
    scaled[g] = static_cast<std::uint64_t>(std::ldexp(weights[g], kWeightBits - exponent));
  }
  return scaled;
}

double rounded_to_bits(double number, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, bits)), exponent - bits);
}

}  // namespace

Result<std::vector<std::uint64_t>> share_draws(std::span<const std::uint64_t> sample_counts,
                                               std::span<const double> weights,
                                               std::uint64_t draw_count) {
  if (Status checked = check_weights(sample_counts, weights, draw_count); !checked.ok())
    return checked;
  const std::vector<std::uint64_t> scaled = integer_weights(sample_counts, weights);
  const Wide sum = std::accumulate(scaled.begin(), scaled.end(), Wide{0});
  if (sum == 0) return refuse_weights("no group with samples has a weight above 0");

  // A product has at most 49 + 53 bits.
  std::vector<std::uint64_t> shares(scaled.size());
  std::vector<Wide> remainders(scaled.size());
  std::uint64_t left = draw_count;
  for (std::size_t g = 0; g < scaled.size(); ++g) {
    const Wide product = Wide{draw_count} * scaled[g];
    shares[g] = static_cast<std::uint64_t>(product / sum);
    remainders[g] = product % sum;
    left -= shares[g];
  }
  // The remainders add up to `left` sums, and each is less than one sum. So fewer draws are left
  // than groups have a remainder.
  std::vector<std::size_t> groups(scaled.size());
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  std::ranges::stable_sort(
      groups, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; i < left; ++i) ++shares[groups[i]];
  return shares;
}

Result<WeightedDraws> WeightedDraws::make(const WeightedDrawsOptions& options) {
  auto shares = share_draws(options.sample_counts, options.weights, options.draw_count);
  if (!shares) return shares.status();
  std::vector<std::uint64_t> first_draws(1, 0);
  first_draws.reserve(shares->size() + 1);
  for (const std::uint64_t share : *shares) first_draws.push_back(first_draws.back() + share);
  return WeightedDraws({options.sample_counts.begin(), options.sample_counts.end()},
                       std::move(first_draws), options.seed, options.epoch);
}

Draw WeightedDraws::draw(std::uint64_t number) const noexcept {
  assert(number < draw_count());
  if (number >= draw_count()) return {.group = sample_counts_.size(), .index = 0};
  // Finds the last group that begins at or before the number. Groups without draws may begin there,
  // too, but stand before it.
  const auto after = std::ranges::upper_bound(first_draws_, number);
  const auto group = static_cast<std::uint64_t>(after - first_draws_.begin()) - 1;
  const std::uint64_t sample_count = sample_counts_[group];
  // `drawn` is counted from the first epoch on.
  const std::uint64_t share = first_draws_[group + 1] - first_draws_[group];
  const Wide drawn = Wide{epoch_} * share + (number - first_draws_[group]);
  const auto pass = static_cast<std::uint64_t>(drawn / sample_count);
  const Bijection order(sample_count,
                        extend_key(extend_key(key_, kFirstGroupStream + group), pass));
  return {.group = group, .index = order.forward(static_cast<std::uint64_t>(drawn % sample_count))};
}

std::vector<double> temperature_weights(std::span<const std::uint64_t> sample_counts,
                                        double temperature) {
  assert(temperature >= 0.0 && temperature <= 16.0);
  std::vector<double> weights;
  weights.reserve(sample_counts.size());
  for (const std::uint64_t count : sample_counts) {
    const auto samples = static_cast<double>(count);
    if (count == 0 || temperature == 0.0) {
      weights.push_back(count == 0 ? 0.0 : 1.0);
    } else if (temperature == 1.0) {
      weights.push_back(samples);
    } else {
      weights.push_back(rounded_to_bits(std::pow(samples, temperature), kPowerBits));
    }
  }
  return weights;
}

}  // namespace xtts::loader
