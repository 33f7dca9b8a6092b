// Finds the generations in a cache folder. No new generation may reuse an old number, because a
// lost manifest is rebuilt from the index with the highest one (verify/manifest_repair.hpp). Free
// functions; they only read. One thread at a time. Failures: kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// The names of entries of one kind in a folder, links excluded; empty if there is no folder. They
// are sorted, because a listing has no order and the state after a crash should not depend on it.
[[nodiscard]] Result<std::vector<std::string>> list_names(Env& env, const std::string& folder,
                                                          FileKind kind);

// Recognise names in a cache's folder and in shards/COLUMN/. Other names are not our files.
[[nodiscard]] bool is_index_name(std::string_view name);
[[nodiscard]] bool is_shard_name(std::string_view name);

// The paths of all shards, relative to the cache.
[[nodiscard]] Result<std::vector<std::string>> list_shards(Env& env, const std::string& cache);

// The generation in the index's footer; nullopt: it cannot be read.
[[nodiscard]] std::optional<std::uint64_t> generation_of_index(Env& env, const std::string& path);
// The generation in the shard's first sound block header; nullopt: none is near its ends. Reads a
// piece of 1 MiB; of a damaged shard up to 64 MiB from each end.
[[nodiscard]] std::optional<std::uint64_t> generation_of_shard(Env& env, const std::string& path);
// The generation of the unpublished build in .build/journal.
[[nodiscard]] std::optional<std::uint64_t> unfinished_generation(Env& env,
                                                                 const std::string& cache);

// True where a cache was published here but has no manifest now. An index alone does not prove it:
// a first build that dies right before its end leaves one, with the generation of its journal.
[[nodiscard]] bool is_manifest_lost(Env& env, const std::string& cache);

// The highest generation that may have been published; 0: none. It comes from the manifest, the
// indexes and the journal; if there is neither manifest nor journal, from the shards. The
// generation of an unfinished build does not count: its number is used again, so that an
// interrupted build ends with the same bytes as an undisturbed one.
[[nodiscard]] Result<std::uint64_t> newest_generation(Env& env, const std::string& cache);

}  // namespace xtts::store
