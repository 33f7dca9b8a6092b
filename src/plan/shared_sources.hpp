// SharedSources: the archives, and the long sources, that more than one part of a plan reads. One
// thread at a time. Memory: 50 bytes for each archive and each source with segments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "corpus/clips/clip.hpp"

namespace xtts::plan {

struct SharedSources {
  std::uint64_t count = 0;
  std::vector<std::string> names;  // the first 20
};

class SharedSourceCounter {
 public:
  // A clip of the part, in the order of the plan.
  void add(const corpus::Clip& clip, std::uint32_t part);
  [[nodiscard]] SharedSources finish() { return std::move(shared_); }

 private:
  struct DigestHash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest.low; }
  };
  // The part that reads the source; 0: several, which are counted.
  std::unordered_map<Digest, std::uint32_t, DigestHash> part_of_;
  SharedSources shared_;
};

}  // namespace xtts::plan
