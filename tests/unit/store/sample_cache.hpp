// Manifests and index files for the tests of src/store and tests/fault.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"

namespace xtts::testing {

struct SampleIndex {
  std::string bytes;
  Digest digest;
};
// An index file with nothing but `text` in its reject section.
[[nodiscard]] SampleIndex sample_index(std::uint64_t generation, const std::string& text);

// The manifest of a cache with these columns and shards; the shards are in order, column by column.
struct SampleColumn {
  formats::ColumnSpec spec;
  std::vector<store::SealedShard> shards;
};
[[nodiscard]] formats::Manifest sample_manifest(std::uint64_t generation, const SampleIndex& index,
                                                const std::vector<SampleColumn>& columns);

// Writes and commits it as a builder does.
[[nodiscard]] Status commit_index(store::CacheFolder& folder, const SampleIndex& index);

}  // namespace xtts::testing
