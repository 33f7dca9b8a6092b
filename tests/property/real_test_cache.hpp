// Test caches with real shards: images as the store makes them.
#pragma once

#include <string>
#include <vector>

#include "support/test_cache.hpp"

namespace xtts::testing {

[[nodiscard]] ShardMaker make_real_shards(formats::StoreKind store);

// The storage that the damage tests are run with.
struct Storage {
  formats::StoreKind store = formats::StoreKind::kLmdb;
  formats::Layout layout = formats::Layout::kPadded;

  [[nodiscard]] std::string name() const;  // "Hdf5Packed"
};

// LMDB and HDF5, padded and packed. Under a sanitizer two: they have each store and each layout.
[[nodiscard]] std::vector<Storage> all_storages();

}  // namespace xtts::testing
