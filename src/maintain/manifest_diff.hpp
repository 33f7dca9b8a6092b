// Compares the manifests of two caches: recipe, numerics, columns. The result has lines for people,
// which call the caches A and B, and the columns whose records can be compared. Pure.
#pragma once

#include <string>
#include <vector>

#include "formats/manifest.hpp"

namespace xtts::maintain {

struct ManifestDifference {
  std::vector<std::string> recipe;    // "features.max_frames: 800 in A, 1024 in B"
  std::vector<std::string> numerics;  // "isa: "avx2" in A, "scalar" in B"
  std::vector<std::string> columns;   // "mel.dtype: ...", "wave: only in A"
  // Columns of both caches, with rows of one shape, both of floats or both of integers.
  std::vector<std::string> comparable_columns;
  bool all_comparable = true;
};

[[nodiscard]] ManifestDifference compare_manifests(const formats::Manifest& a,
                                                   const formats::Manifest& b);

}  // namespace xtts::maintain
