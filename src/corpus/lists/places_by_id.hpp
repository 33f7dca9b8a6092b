// PlacesById: finds the clip that has an id, in 8 to 32 bytes a clip: a table of places alone, for
// the ids are with the clips. A corpus of millions needs no second copy of them. One thread at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "corpus/corpus.hpp"

namespace xtts::corpus {

class PlacesById {
 public:
  // The place in `clips` of the clip that has this id. nullopt: none has, and the caller puts the
  // one that has it at `place`, before the next call.
  [[nodiscard]] std::optional<std::uint32_t> find_or_add(std::string_view id, std::uint32_t place,
                                                         const std::vector<Clip>& clips);

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t place = kFree;
  };

  void grow();

  std::vector<Slot> slots_;  // a power of two, half of them free at least
  std::size_t used_count_ = 0;
};

}  // namespace xtts::corpus
