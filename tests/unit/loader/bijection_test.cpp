#include "loader/bijection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace xtts::loader {
namespace {

std::uint64_t key_of(std::uint64_t seed, std::uint64_t epoch, std::uint64_t stream = 0) {
  return extend_key(epoch_key(seed, epoch), stream);
}

std::vector<std::uint64_t> whole(std::uint64_t size, std::uint64_t key) {
  const Bijection bijection(size, key);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < size; ++i) numbers.push_back(bijection.forward(i));
  return numbers;
}

// All small sizes, and sizes on both sides of each change in the number of bits.
std::vector<std::uint64_t> sizes() {
  std::vector<std::uint64_t> list;
  for (std::uint64_t size = 1; size <= 300; ++size) list.push_back(size);
  for (const std::uint64_t size : {511U, 512U, 513U, 1000U, 1023U, 1024U, 1025U, 5000U})
    list.push_back(size);
  return list;
}

// How far the counts are from being equal: the chi-square statistic, less its mean, in standard
// deviations. Chance stays within about 4.
double unevenness(const std::vector<double>& counts) {
  double sum = 0.0;
  for (const double count : counts) sum += count;
  const double expected = sum / static_cast<double>(counts.size());
  double chi_square = 0.0;
  for (const double count : counts)
    chi_square += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1.0;
  return (chi_square - freedom) / std::sqrt(2.0 * freedom);
}

// Rosetta Code ("Pseudo-random numbers/Splitmix64") has the first numbers from the state 1234567.
TEST(Mix, GivesTheNumbersOfSplitmix64) {
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
        16408922859458223821U}) {
    EXPECT_EQ(mix(state), expected);
    state += 0x9E37'79B9'7F4A'7C15U;
  }
}

TEST(Mix, GivesSeedsEpochsAndStreamsKeysOfTheirOwn) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
      for (std::uint64_t stream = 0; stream < 20; ++stream) {
        keys.insert(key_of(seed, epoch, stream));
        keys.insert(key_of(seed, epoch, kFirstGroupStream + stream));
      }
    }
  }
  EXPECT_EQ(keys.size(), 16'000U);
}

TEST(Bijection, TakesEveryNumberOnce) {
  for (const std::uint64_t size : sizes()) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      std::vector<bool> seen(size, false);
      for (const std::uint64_t number : whole(size, key_of(seed, size))) {
        ASSERT_LT(number, size) << "seed " << seed;
        ASSERT_FALSE(seen[number]) << "size " << size << ", seed " << seed;
        seen[number] = true;
      }
    }
  }
}

TEST(Bijection, InverseUndoesForward) {
  for (const std::uint64_t size : sizes()) {
    const Bijection bijection(size, key_of(11, size));
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_EQ(bijection.inverse(bijection.forward(i)), i) << "size " << size;
      ASSERT_EQ(bijection.forward(bijection.inverse(i)), i) << "size " << size;
    }
  }
}

TEST(Bijection, HoldsUpToItsLargestSize) {
  for (unsigned bits = 13; bits <= 48; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    for (const std::uint64_t size : {power - 1, power, power / 2 + 1}) {
      const Bijection bijection(size, key_of(5, bits));
      for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t number = mix(i) % size;
        ASSERT_LT(bijection.forward(number), size);
        ASSERT_EQ(bijection.inverse(bijection.forward(number)), number) << size;
        ASSERT_EQ(bijection.forward(bijection.inverse(number)), number) << size;
      }
    }
  }
}

// The seeds are those that people choose: 0, 1, 2 ...
TEST(Bijection, GivesEveryNumberEveryPlaceAlikeOverSeeds) {
  for (const std::uint64_t size : {2U, 3U, 5U, 10U, 100U}) {
    for (const std::uint64_t number : {std::uint64_t{0}, size / 2, size - 1}) {
      std::vector<double> counts(size, 0.0);
      for (std::uint64_t seed = 0; seed < 2000; ++seed)
        counts[Bijection(size, key_of(seed, 0)).forward(number)] += 1.0;
      EXPECT_LT(std::abs(unevenness(counts)), 4.0) << number << " of " << size;
    }
  }
}

TEST(Bijection, GivesEveryNumberEveryPlaceAlikeOverEpochs) {
  for (const std::uint64_t size : {2U, 3U, 5U, 10U, 100U}) {
    std::vector<double> counts(size, 0.0);
    for (std::uint64_t epoch = 0; epoch < 2000; ++epoch)
      counts[Bijection(size, key_of(42, epoch)).forward(0)] += 1.0;
    EXPECT_LT(std::abs(unevenness(counts)), 4.0) << size;
  }
}

TEST(Bijection, GivesEveryOrderOfFourAlike) {
  std::map<std::vector<std::uint64_t>, double> orders;
  for (std::uint64_t seed = 0; seed < 2400; ++seed) orders[whole(4, key_of(seed, 1))] += 1.0;
  ASSERT_EQ(orders.size(), 24U);
  std::vector<double> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_LT(std::abs(unevenness(counts)), 4.0);
}

// Two unrelated orders agree in one place on average. Their correlation has a standard deviation of
// 1 / sqrt(n - 1). About two of n pairs of neighbours are neighbours again.
TEST(Bijection, GivesConsecutiveEpochsUnrelatedOrders) {
  constexpr std::uint64_t kSize = 500;
  constexpr int kEpochs = 60;
  double agreeing = 0.0;
  double neighbours = 0.0;
  double products = 0.0;
  std::vector<std::uint64_t> before = whole(kSize, key_of(9, 0));
  for (std::uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    const std::vector<std::uint64_t> now = whole(kSize, key_of(9, epoch));
    for (std::size_t i = 0; i < kSize; ++i) {
      const double middle = (kSize - 1) / 2.0;
      agreeing += now[i] == before[i] ? 1.0 : 0.0;
      products +=
          (static_cast<double>(now[i]) - middle) * (static_cast<double>(before[i]) - middle);
      if (i == 0) continue;
      const std::uint64_t apart = now[i] > now[i - 1] ? now[i] - now[i - 1] : now[i - 1] - now[i];
      neighbours += apart == 1 ? 1.0 : 0.0;
    }
    before = now;
  }
  const double variance = (kSize * static_cast<double>(kSize) - 1.0) / 12.0;
  const double correlation = products / variance / kSize / kEpochs;
  EXPECT_NEAR(agreeing / kEpochs, 1.0, 4.0 / std::sqrt(kEpochs));
  EXPECT_NEAR(neighbours / kEpochs, 2.0, 4.0 * std::sqrt(2.0 / kEpochs));
  EXPECT_NEAR(correlation, 0.0, 4.0 / std::sqrt((kSize - 1.0) * kEpochs));
}

}  // namespace
}  // namespace xtts::loader
