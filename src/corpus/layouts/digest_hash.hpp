// DigestHash: lets a digest replace a name in a hash table that does not need the name itself.
#pragma once

#include <cstddef>

#include "base/hash.hpp"

namespace xtts::corpus {

struct DigestHash {
  std::size_t operator()(const Digest& digest) const noexcept { return digest.low; }
};

}  // namespace xtts::corpus
