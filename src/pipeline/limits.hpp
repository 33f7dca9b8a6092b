// How much a build may lose before it ends unpublished. Plain values.
#pragma once

#include <cstdint>
#include <optional>

namespace xtts::pipeline {

// How many clips may be at fault.
struct RejectLimit {
  std::optional<std::uint64_t> count;  // unset: the share decides
  double share = 0.05;                 // of planned clips
};

// The shares that may be lost, as fractions of 1.
struct LossLimits {
  double dropped = 0.10;  // of clips, or of hours, whichever is worse
  double gone = 0.05;     // of the clips that the published cache holds
};

}  // namespace xtts::pipeline
