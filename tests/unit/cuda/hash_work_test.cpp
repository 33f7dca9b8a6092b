// The arithmetic of the hash kernel, on the host, from the same source that CUDA compiles: it
// equals check64() in every bit.
#include "cuda/kernels/hash_work.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "support/hash_alone.hpp"

namespace xtts::cuda {
namespace {

using testing::hash_alone;

constexpr std::size_t kHashedBytesMax = 1U << 20U;

class HashWork : public ::testing::Test {
 protected:
  HashWork() {
    for (std::uint64_t& word : words_) word = random_();
  }

  void expect_equal(std::size_t size_bytes, std::uint64_t seed, std::size_t skew = 0) const {
    const auto bytes = std::as_bytes(std::span(words_)).subspan(skew, size_bytes);
    ASSERT_EQ(hash_alone(reinterpret_cast<const unsigned char*>(bytes.data()), size_bytes, seed),
              check64(bytes, seed))
        << size_bytes << " bytes at " << skew << ", seed " << seed;
  }

  void expect_equal_for_seeds(std::size_t size_bytes) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{random_()}})
      expect_equal(size_bytes, seed);
  }

  std::mt19937_64 random_{41};
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kHashedBytesMax / 8);
};

TEST_F(HashWork, EqualsTheHostsForEverySizeOfTwoBlocks) {
  for (std::size_t size = kHashedBytesMin; size <= 2100; ++size) expect_equal_for_seeds(size);
}

TEST_F(HashWork, EqualsTheHostsAroundBorders) {
  for (std::size_t block = 1; block <= 70; ++block) {
    for (std::size_t skew = 0; skew <= 2; ++skew) {
      expect_equal_for_seeds(block * kHashBlockBytes + skew - 1);
      expect_equal_for_seeds(block * kHashBlockBytes + kHashStripeBytes + skew - 1);
    }
  }
  for (const std::size_t size : {65'535U, 65'536U, 65'537U, 256'000U, 1'048'576U}) {
    expect_equal_for_seeds(size);
  }
}

TEST_F(HashWork, EqualsTheHostsAtEveryAddress) {
  for (std::size_t skew = 0; skew < 16; ++skew) {
    for (std::size_t size = kHashedBytesMin; size <= 1400; ++size) expect_equal(size, 3, skew);
    expect_equal(256'004, random_(), skew);
  }
}

TEST_F(HashWork, EqualsTheHostsForSizesAtRandom) {
  for (int i = 0; i < 200; ++i) {
    expect_equal(kHashedBytesMin + random_() % (kHashedBytesMax - kHashedBytesMin), random_());
  }
}

TEST_F(HashWork, EveryByteAndTheSeedCount) {
  for (const std::size_t size : {241U, 1025U, 3000U}) {
    auto* const bytes = reinterpret_cast<unsigned char*>(words_.data());
    const std::uint64_t hash = hash_alone(bytes, size, 7);
    EXPECT_NE(hash_alone(bytes, size, 8), hash);
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] ^= 0x10U;
      ASSERT_NE(hash_alone(bytes, size, 7), hash) << "byte " << i << " of " << size;
      bytes[i] ^= 0x10U;
    }
  }
}

}  // namespace
}  // namespace xtts::cuda
