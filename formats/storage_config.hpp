// The storage section of a recipe, and the words that blocks and manifests share with it. It
// decides how the numbers lie on disk. Plain values; validate() returns every problem at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xtts/dtype.hpp"

namespace xtts::formats {

// Persisted in block headers. Values never change.
enum class Layout : std::uint8_t { kPadded = 1, kPacked = 2 };
enum class StoreKind { kLmdb, kHdf5 };
// How the row count of a column is set: a fixed number for each frame, one for each token, its own
// number up to the padded shape's, or always the full shape.
enum class Axis { kFrames, kTokens, kOwn, kFixed };

struct StorageConfig {
  StoreKind store = StoreKind::kLmdb;
  Layout layout = Layout::kPadded;
  DType dtype = DType::kFloat32;

  [[nodiscard]] std::vector<std::string> validate() const;
};

}  // namespace xtts::formats
