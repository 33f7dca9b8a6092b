#include "corpus/lists/places_by_id.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kSlotsMin = 1024;

}  // namespace

std::optional<std::uint32_t> PlacesById::find_or_add(std::string_view id, std::uint32_t place,
                                                     const std::vector<Clip>& clips) {
  if (2 * (used_count_ + 1) > slots_.size()) grow();
  const auto hash = static_cast<std::uint32_t>(check64(as_bytes(id)));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].place != kFree; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && clips[slots_[at].place].id == id) return slots_[at].place;
  }
  slots_[at] = {hash, place};
  ++used_count_;
  return std::nullopt;
}

void PlacesById::grow() {
  const auto old = std::exchange(slots_, std::vector<Slot>(std::max(kSlotsMin, 2 * slots_.size())));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.place == kFree) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].place != kFree) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace xtts::corpus
