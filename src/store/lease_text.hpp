// The text of .build/lease: who builds, and proof of life. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.hpp"

namespace xtts::store {

struct LeaseText {
  Digest nonce;             // of one builder's hold, by chance: no other ever has it
  std::uint64_t epoch = 1;  // one more at each take-over
  std::uint64_t beat = 0;   // one more every few seconds
  std::string circle;       // LockReach::circle of the builder's locks
  std::string holder;       // "host node7, process 4242", for messages
};

[[nodiscard]] std::string encode_lease(const LeaseText& lease);
// Nothing where the bytes are not a lease's.
[[nodiscard]] std::optional<LeaseText> decode_lease(std::string_view text);

}  // namespace xtts::store
