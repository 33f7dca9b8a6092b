// Clips for tests of features: real ones where XTTS_CORPUS has them, and made ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xtts::testing {

struct ClipSignal {
  std::string name;
  std::vector<float> samples;
};

// Voiced sound over noise, 60 dB apart.
[[nodiscard]] std::vector<float> made_clip(std::size_t sample_count, std::uint64_t seed);
// Two of LJSpeech's clips; made ones where the corpus is absent.
[[nodiscard]] std::vector<ClipSignal> real_or_made_clips();

}  // namespace xtts::testing
