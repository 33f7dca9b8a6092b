// Which manifests of lhotse DATA holds, and which belong together by their names. Pure functions of
// a scan.
#pragma once

#include <string>
#include <vector>

#include "corpus/data_tree.hpp"

namespace xtts::corpus {

struct ManifestPair {
  std::string recordings;
  std::string supervisions;
};

struct Manifests {
  std::vector<ManifestPair> pairs;
  std::vector<std::string> alone;  // recordings without supervisions, or the other way round
};

[[nodiscard]] Manifests find_manifests(const DataTree& tree);

}  // namespace xtts::corpus
