// FixedRandom: the same numbers in every run, so that a doctor looks at the same clips each time
// (splitmix64). For std::shuffle and the like. One thread at a time.
#pragma once

#include <cstdint>
#include <limits>

namespace xtts::probe {

class FixedRandom {
 public:
  using result_type = std::uint64_t;
  [[nodiscard]] static constexpr result_type min() { return 0; }
  [[nodiscard]] static constexpr result_type max() {
    return std::numeric_limits<result_type>::max();
  }
  result_type operator()() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    result_type mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

 private:
  std::uint64_t state_ = 20;
};

}  // namespace xtts::probe
