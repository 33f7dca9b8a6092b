// What holds for every key and size. order_v1_vectors_test.cpp compares the numbers themselves,
// which never change.
#include "loader/bijection.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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

}  // namespace
}  // namespace xtts::loader
