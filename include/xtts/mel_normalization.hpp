// Normalization: what the numbers of a cache's mels are. Its recipe took a logarithm of them, and
// perhaps normalized them, so a program that trains must not do it again. Plain value.
#pragma once

#include <string>
#include <vector>

namespace xtts {

struct Normalization {
  // For people: "ln magnitude, floor 1e-5, normalized: (x + 5.536622) / 2.116101".
  std::string text;
  std::string log;              // "natural", "ten" or "none"
  double floor = 0.0;           // the least value whose logarithm is taken; 0 without a logarithm
  bool is_floor_added = false;  // log(x + floor) instead of log(max(x, floor))
  double range = 0.0;  // above 0: values more than this below the clip's largest are raised
  // "none"; "affine" and "channels": by the recipe's numbers; "min_max" and "mean_variance": over
  // each clip by itself.
  std::string method;
  bool is_baked = false;  // then normalized by the statistics of the corpus (convert --bake)
  // log = number * scale + offset, also behind a baked normalization: one, or one a channel. Empty:
  // each clip has its own, which no cache keeps.
  std::vector<double> offset;
  std::vector<double> scale;
};

}  // namespace xtts
