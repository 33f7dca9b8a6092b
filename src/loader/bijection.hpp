// Bijection: a shuffle that needs no memory. It is a keyed permutation of [0, size), computed
// number by number in both directions. Order v1 is built on it (formats/order-v1.md gives it
// exactly): the same key gives the same permutation on every machine, for ever.
//
// A Feistel network of eight rounds permutes [0, 2^b), the smallest such range that holds the
// numbers. It has at least 256 numbers, or the halves would be too narrow to mix. A result outside
// [0, size) is permuted again until it lies inside. That ends, because repeating a permutation
// leads back to the start, which lies inside. It takes less than two turns on average, and
// 256 / size where size is less than 128.
//
// All functions are pure. A Bijection is immutable, share freely. Nothing fails. A size or number
// outside its range is a programmer's error, and asserted. In a release build such a number comes
// back as it is.
#pragma once

#include <array>
#include <cstdint>

namespace xtts::loader {

inline constexpr std::uint64_t kOrderSizeMax = std::uint64_t{1} << 48U;

// The finalizer of splitmix64, itself a permutation of the 64-bit numbers (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, 2014; constants of Vigna's splitmix64.c).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t number) noexcept {
  number += 0x9E37'79B9'7F4A'7C15U;
  number = (number ^ (number >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  number = (number ^ (number >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return number ^ (number >> 31U);
}

// Adds a number to a key's chain. Different numbers give different keys.
[[nodiscard]] constexpr std::uint64_t extend_key(std::uint64_t key, std::uint64_t number) noexcept {
  return mix(key ^ number);
}

// The key that all shuffles of one epoch extend by the number of their stream.
[[nodiscard]] constexpr std::uint64_t epoch_key(std::uint64_t seed, std::uint64_t epoch) noexcept {
  constexpr std::uint64_t kTag = 0x3144'524F'5354'5458U;  // the bytes "XTTSORD1", little-endian
  return extend_key(extend_key(mix(kTag), seed), epoch);
}

// Numbers of streams: part of Order v1, they never change.
inline constexpr std::uint64_t kGlobalStream = 0;
inline constexpr std::uint64_t kStretchStream = 1;
inline constexpr std::uint64_t kFirstWindowStream = 2;                       // + window
inline constexpr std::uint64_t kFirstGroupStream = std::uint64_t{1} << 63U;  // + group

class Bijection {
 public:
  // `size` from 1 to kOrderSizeMax.
  Bijection(std::uint64_t size, std::uint64_t key) noexcept;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // `number` is below size(). Each function undoes the other.
  [[nodiscard]] std::uint64_t forward(std::uint64_t number) const noexcept;
  [[nodiscard]] std::uint64_t inverse(std::uint64_t number) const noexcept;

 private:
  static constexpr unsigned kRounds = 8;

  std::uint64_t size_;
  unsigned low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, kRounds> round_keys_{};
};

}  // namespace xtts::loader
