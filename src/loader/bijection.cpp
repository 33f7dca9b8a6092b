#include "loader/bijection.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace xtts::loader {
namespace {

constexpr unsigned kBitsMin = 8;
constexpr std::uint64_t kRoundKeyStep = 0x9E37'79B9'7F4A'7C15U;

}  // namespace

Bijection::Bijection(std::uint64_t size, std::uint64_t key) noexcept : size_(size) {
  assert(size >= 1 && size <= kOrderSizeMax);
  const unsigned bits = std::max(kBitsMin, static_cast<unsigned>(std::bit_width(size - 1)));
  const unsigned high_bits = bits / 2;
  low_bits_ = bits - high_bits;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << high_bits) - 1;
  for (std::uint64_t& round_key : round_keys_) {
    round_key = mix(key);
    key += kRoundKeyStep;
  }
}

std::uint64_t Bijection::forward(std::uint64_t number) const noexcept {
  assert(number < size_);
  if (number >= size_) return number;
  do {
    std::uint64_t high = number >> low_bits_;
    std::uint64_t low = number & low_mask_;
    for (unsigned round = 0; round < kRounds; round += 2) {
      high ^= mix(low ^ round_keys_[round]) & high_mask_;
      low ^= mix(high ^ round_keys_[round + 1]) & low_mask_;
    }
    number = high << low_bits_ | low;
  } while (number >= size_);
  return number;
}

std::uint64_t Bijection::inverse(std::uint64_t number) const noexcept {
  assert(number < size_);
  if (number >= size_) return number;
  do {
    std::uint64_t high = number >> low_bits_;
    std::uint64_t low = number & low_mask_;
    for (unsigned round = kRounds; round > 0; round -= 2) {
      low ^= mix(high ^ round_keys_[round - 1]) & low_mask_;
      high ^= mix(low ^ round_keys_[round - 2]) & high_mask_;
    }
    number = high << low_bits_ | low;
  } while (number >= size_);
  return number;
}

}  // namespace xtts::loader
