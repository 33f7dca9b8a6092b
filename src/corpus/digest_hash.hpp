// DigestHash: lets a digest stand for a name in a hash table, where the name itself is of no use.
#pragma once

#include <cstddef>

#include "base/hash.hpp"

namespace xtts::corpus {

struct DigestHash {
  std::size_t operator()(const Digest& digest) const noexcept { return digest.low; }
};

}  // namespace xtts::corpus
