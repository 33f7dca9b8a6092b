// EpochOrder: the order of an epoch's samples. It computes which sample stands at a place from the
// seed and the epoch's number, place by place, in constant memory (formats/order-v1.md). Order v1
// never changes. So any number of ranks can resume a run at any place, on any machine.
//
// Samples are numbers 0 ... n-1 in the canonical order of the selection. kWindow shuffles without
// reading all over the cache. It cuts the samples into stretches of consecutive ones and shuffles
// the stretches. Each few stretches make a window, and the samples of a window are shuffled.
//
// Immutable, share freely. Nothing fails. A number outside the ranges given here is a programmer's
// error: it is asserted, and harmless without the assertion.
#pragma once

#include <cstdint>
#include <vector>

#include "loader/bijection.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

struct EpochOrderOptions {
  std::uint64_t sample_count = 0;  // at most kOrderSizeMax
  Shuffle shuffle = Shuffle::kNone;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  // For kWindow alone, both at least 1.
  std::uint64_t stretch_samples = 1;
  std::uint64_t stretches_per_window = 1;
};

// Consecutive samples.
struct SampleRange {
  std::uint64_t first_sample = 0;
  std::uint64_t sample_count = 0;

  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

// Consecutive places, which hold the samples of some stretches.
struct Window {
  std::uint64_t first_place = 0;
  std::uint64_t sample_count = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

// Makes a seeded choice for a place of an epoch: a number below `choice_count`, which is at least
// 1. It does not depend on the order.
[[nodiscard]] std::uint32_t crop_choice(std::uint64_t seed, std::uint64_t epoch,
                                        std::uint64_t place, std::uint32_t choice_count) noexcept;

class EpochOrder {
 public:
  explicit EpochOrder(const EpochOrderOptions& options) noexcept;

  // The order of the same samples in the next epoch.
  [[nodiscard]] EpochOrder next_epoch() const noexcept;
  [[nodiscard]] std::uint64_t sample_count() const noexcept { return options_.sample_count; }
  // `place` is below sample_count().
  [[nodiscard]] std::uint64_t sample_at(std::uint64_t place) const noexcept;

  // The windows tell what to read ahead. Without kWindow there are none. `window_index` is below
  // window_count(), and `place` below sample_count().
  [[nodiscard]] std::uint64_t window_count() const noexcept;
  [[nodiscard]] Window window(std::uint64_t window_index) const noexcept;
  [[nodiscard]] std::uint64_t window_of(std::uint64_t place) const noexcept;
  // The window's stretches in shuffled order: stretches_per_window of them, fewer in the last
  // window.
  [[nodiscard]] std::vector<SampleRange> stretches_of(std::uint64_t window_index) const;

 private:
  // A turn is a stretch's position in the shuffled order of the stretches. `laid` is a sample's
  // position when the stretches are laid end to end in that order.
  [[nodiscard]] std::uint64_t first_laid_of(std::uint64_t turn) const noexcept;
  [[nodiscard]] std::uint64_t turn_of(std::uint64_t laid) const noexcept;

  EpochOrderOptions options_;
  std::uint64_t key_;
  // Permutes the samples (kGlobal) or the stretches (kWindow).
  Bijection bijection_;
  std::uint64_t stretch_count_ = 0;
  std::uint64_t missing_samples_ = 0;  // how many samples the last stretch lacks
  std::uint64_t short_turn_ = 0;       // the turn of that stretch
};

}  // namespace xtts::loader
