// SharedSources: the archives, and the long sources, that more than one part of a plan reads. One
// thread at a time. Memory: at most what it is given; then it takes no further sources, and says
// so.
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
  bool is_all = true;              // false: there may be more
};

class SharedSourceCounter {
 public:
  explicit SharedSourceCounter(std::uint64_t memory_bytes)
      : known_max_(memory_bytes / kBytesOfSource) {}

  // A clip of the part, in the order of the plan.
  void add(const corpus::Clip& clip, std::uint32_t part);
  [[nodiscard]] SharedSources finish() { return std::move(shared_); }

 private:
  static constexpr std::uint64_t kBytesOfSource = 64;  // with the overhead of the table

  struct DigestHash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest.low; }
  };
  const std::uint64_t known_max_;
  // The part that reads the source; 0: several, which are counted.
  std::unordered_map<Digest, std::uint32_t, DigestHash> part_of_;
  SharedSources shared_;
};

}  // namespace xtts::plan
