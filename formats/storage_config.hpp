// The storage section of a recipe, and the words that blocks and manifests share with it: how the
// numbers lie on disk. Plain values; validate() returns every problem at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xtts/dtype.hpp"

namespace xtts::formats {

// Persisted in block headers. Values never change.
enum class Layout : std::uint8_t { kPadded = 1, kPacked = 2 };
enum class StoreKind { kLmdb, kHdf5 };
// What the rows of a column go along: so many of them a frame, one a token, a number of their own
// up to the padded shape's, or always all of the shape.
enum class Axis { kFrames, kTokens, kOwn, kFixed };

struct StorageConfig {
  StoreKind store = StoreKind::kLmdb;
  Layout layout = Layout::kPadded;
  DType dtype = DType::kFloat32;

  [[nodiscard]] std::vector<std::string> validate() const;
};

}  // namespace xtts::formats
