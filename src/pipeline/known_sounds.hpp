// KnownSounds: which clip was the first with these samples. Plain value, one thread at a time.
// Memory: about 60 bytes a sound.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/hash.hpp"

namespace xtts::pipeline {

class KnownSounds {
 public:
  // `clip` is the caller's number for the clip. If an earlier clip has this digest, returns its
  // number and adds nothing.
  std::optional<std::uint32_t> add(const Digest& pcm, std::uint32_t clip) {
    const auto [place, added] = clips_.emplace(pcm, clip);
    return added ? std::nullopt : std::optional(place->second);
  }

 private:
  struct Hash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest.low; }
  };
  std::unordered_map<Digest, std::uint32_t, Hash> clips_;
};

}  // namespace xtts::pipeline
