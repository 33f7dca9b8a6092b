// PlacesById finds the clip with an id, in 8 to 32 bytes a clip. Its table holds only places,
// because the clips hold the ids: a corpus of millions needs no second copy of them. One thread at
// a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "corpus/clips/clip.hpp"

namespace xtts::corpus {

class PlacesById {
 public:
  // The place in `clips` of the clip with this id. nullopt: there is none; the caller then stores
  // its clip at `place` before the next call.
  [[nodiscard]] std::optional<std::uint32_t> find_or_add(std::string_view id, std::uint32_t place,
                                                         const std::vector<Clip>& clips);

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t place = kFree;
  };

  void grow();

  std::vector<Slot> slots_;  // a power of two, at least half of them free
  std::size_t used_count_ = 0;
};

}  // namespace xtts::corpus
