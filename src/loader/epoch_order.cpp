#include "loader/epoch_order.hpp"

#include <algorithm>
#include <cassert>

namespace xtts::loader {
namespace {

constexpr std::uint64_t kCropStream = std::uint64_t{1} << 62U;

// Limits a stretch to the number of samples. A longer one would mean the same, but products could
// overflow.
EpochOrderOptions in_range(EpochOrderOptions options) noexcept {
  assert(options.sample_count <= kOrderSizeMax);
  assert(options.stretch_samples >= 1 && options.stretches_per_window >= 1);
  const std::uint64_t longest = std::max<std::uint64_t>(options.sample_count, 1);
  options.stretch_samples = std::clamp<std::uint64_t>(options.stretch_samples, 1, longest);
  options.stretches_per_window = std::max<std::uint64_t>(options.stretches_per_window, 1);
  return options;
}

std::uint64_t divide_up(std::uint64_t number, std::uint64_t divisor) noexcept {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

// At least 1, because a Bijection needs a size, even where the permutation is not used (an empty
// epoch, shuffle none).
std::uint64_t permuted_count(const EpochOrderOptions& options) noexcept {
  const std::uint64_t count = options.shuffle == Shuffle::kWindow
                                  ? divide_up(options.sample_count, options.stretch_samples)
                                  : options.sample_count;
  return std::max<std::uint64_t>(count, 1);
}

}  // namespace

std::uint32_t crop_choice(std::uint64_t seed, std::uint64_t epoch, std::uint64_t place,
                          std::uint32_t choice_count) noexcept {
  const std::uint64_t key = extend_key(epoch_key(seed, epoch), kCropStream);
  const std::uint64_t upper_half = extend_key(key, place) >> 32U;
  return static_cast<std::uint32_t>(upper_half * choice_count >> 32U);
}

EpochOrder::EpochOrder(const EpochOrderOptions& options) noexcept
    : options_(in_range(options)),
      key_(epoch_key(options_.seed, options_.epoch)),
      bijection_(
          permuted_count(options_),
          extend_key(key_, options_.shuffle == Shuffle::kWindow ? kStretchStream : kGlobalStream)) {
  if (options_.shuffle != Shuffle::kWindow || options_.sample_count == 0) return;
  stretch_count_ = bijection_.size();
  missing_samples_ = stretch_count_ * options_.stretch_samples - options_.sample_count;
  short_turn_ = bijection_.inverse(stretch_count_ - 1);
}

EpochOrder EpochOrder::next_epoch() const noexcept {
  EpochOrderOptions options = options_;
  ++options.epoch;
  return EpochOrder(options);
}

std::uint64_t EpochOrder::first_laid_of(std::uint64_t turn) const noexcept {
  return turn * options_.stretch_samples - (turn > short_turn_ ? missing_samples_ : 0);
}

std::uint64_t EpochOrder::turn_of(std::uint64_t laid) const noexcept {
  // Behind the short stretch, the samples that it lacks are added: all stretches count as equally
  // long.
  const bool before = laid < short_turn_ * options_.stretch_samples;
  return (before ? laid : laid + missing_samples_) / options_.stretch_samples;
}

std::uint64_t EpochOrder::sample_at(std::uint64_t place) const noexcept {
  assert(place < options_.sample_count);
  if (options_.shuffle == Shuffle::kNone || place >= options_.sample_count) return place;
  if (options_.shuffle == Shuffle::kGlobal) return bijection_.forward(place);
  const std::uint64_t window_index = window_of(place);
  const Window here = window(window_index);
  const Bijection within(here.sample_count, extend_key(key_, kFirstWindowStream + window_index));
  const std::uint64_t laid = here.first_place + within.forward(place - here.first_place);
  const std::uint64_t turn = turn_of(laid);
  return bijection_.forward(turn) * options_.stretch_samples + (laid - first_laid_of(turn));
}

std::uint64_t EpochOrder::window_count() const noexcept {
  return divide_up(stretch_count_, options_.stretches_per_window);
}

Window EpochOrder::window(std::uint64_t window_index) const noexcept {
  assert(window_index < window_count());
  if (window_index >= window_count()) return {.first_place = options_.sample_count};
  const std::uint64_t turn = window_index * options_.stretches_per_window;
  const std::uint64_t turns = std::min(options_.stretches_per_window, stretch_count_ - turn);
  const std::uint64_t first = first_laid_of(turn);
  return {.first_place = first, .sample_count = first_laid_of(turn + turns) - first};
}

std::uint64_t EpochOrder::window_of(std::uint64_t place) const noexcept {
  assert(place < options_.sample_count && stretch_count_ > 0);
  return turn_of(place) / options_.stretches_per_window;
}

std::vector<SampleRange> EpochOrder::stretches_of(std::uint64_t window_index) const {
  assert(window_index < window_count());
  if (window_index >= window_count()) return {};
  const std::uint64_t turn = window_index * options_.stretches_per_window;
  const std::uint64_t turns = std::min(options_.stretches_per_window, stretch_count_ - turn);
  std::vector<SampleRange> ranges;
  ranges.reserve(turns);
  for (std::uint64_t i = turn; i < turn + turns; ++i) {
    const std::uint64_t first = bijection_.forward(i) * options_.stretch_samples;
    const std::uint64_t left = options_.sample_count - first;
    ranges.push_back({first, std::min(options_.stretch_samples, left)});
  }
  return ranges;
}

}  // namespace xtts::loader
