// How much a build may lose before it ends unpublished. Plain values.
#pragma once

#include <cstdint>
#include <optional>

namespace xtts::pipeline {

// Clips at fault.
struct RejectLimit {
  std::optional<std::uint64_t> count;  // unset: the share decides
  double share = 0.05;                 // of planned clips
};

// Shares of 1.
struct LossLimits {
  double dropped = 0.10;  // of clips, or of hours, whichever is worse
  double gone = 0.05;     // of the clips that the published cache holds
};

}  // namespace xtts::pipeline
