#include "loader/steps.hpp"

#include <algorithm>
#include <cassert>

namespace xtts::loader {
namespace {

// Below 2^64, because both factors are below 2^32.
std::uint64_t places_a_step(const Steps& steps) noexcept {
  return std::uint64_t{steps.batch_size} * steps.world_size;
}

std::uint64_t places_left(const Steps& steps) noexcept {
  return steps.sample_count - std::min(steps.first_place, steps.sample_count);
}

}  // namespace

std::uint64_t Steps::step_count() const noexcept {
  const std::uint64_t each = places_a_step(*this);
  if (each == 0) return 0;
  const std::uint64_t left = places_left(*this);
  return left / each + (last == LastBatch::kPad && left % each != 0 ? 1 : 0);
}

PlaceRange Steps::places_of(std::uint64_t step, std::uint32_t rank) const noexcept {
  assert(rank < world_size);
  const PlaceRange nothing{.first = sample_count, .count = 0};
  if (step >= step_count() || rank >= world_size) return nothing;
  // This cannot overflow. The step exists, so `step * places_a_step` is below the places left. The
  // sum is below 2^64 where step is 0, and below twice the places left otherwise.
  const std::uint64_t left = places_left(*this);
  const std::uint64_t offset = step * places_a_step(*this) + std::uint64_t{rank} * batch_size;
  if (offset >= left) return nothing;
  return {.first = first_place + offset,
          .count = std::min<std::uint64_t>(batch_size, left - offset)};
}

std::uint64_t Steps::place_after(std::uint64_t step) const noexcept {
  const std::uint64_t begin = std::min(first_place, sample_count);
  if (step < step_count()) return begin + step * places_a_step(*this);
  if (last == LastBatch::kPad) return step_count() == 0 ? begin : sample_count;
  return begin + step_count() * places_a_step(*this);
}

}  // namespace xtts::loader
