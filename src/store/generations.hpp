// The generations that a cache folder names. No new generation may have the number of an old one:
// a manifest that is lost is made again from the index of the highest (verify/manifest_repair.hpp).
// Free functions; they read, and write nothing. One thread at a time. Failures: kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// What lies in a folder under no link, sorted: a listing has no order, and what a crash leaves
// should not depend on it. None where there is no folder.
[[nodiscard]] Result<std::vector<std::string>> list_names(Env& env, const std::string& folder,
                                                          FileKind kind);

// Of names in a cache's folder and in shards/COLUMN/; other names are somebody else's files.
[[nodiscard]] bool is_index_name(std::string_view name);
[[nodiscard]] bool is_shard_name(std::string_view name);

// All shards of a cache, by their paths below it.
[[nodiscard]] Result<std::vector<std::string>> list_shards(Env& env, const std::string& cache);

// What its footer says; nothing where it cannot be read.
[[nodiscard]] std::optional<std::uint64_t> generation_of_index(Env& env, const std::string& path);
// What its first sound block header says; nothing where none is near its ends. Reads a piece of
// 1 MiB; of a damaged shard up to 64 MiB from each end.
[[nodiscard]] std::optional<std::uint64_t> generation_of_shard(Env& env, const std::string& path);
// Of the build that .build/journal tells of, which is not published.
[[nodiscard]] std::optional<std::uint64_t> unfinished_generation(Env& env,
                                                                 const std::string& cache);

// Whether a cache was published here and its manifest is not there any more. An index alone does
// not tell: a first build that dies right before its end leaves one, of the generation of its
// journal.
[[nodiscard]] bool is_manifest_lost(Env& env, const std::string& cache);

// The highest that may have been published; 0 where there is none. A manifest, indexes and the
// journal tell it; shards are asked where there is neither a manifest nor a journal. The
// generation of an unfinished build is not counted: it is to be had again, so that an interrupted
// build ends with the bytes of an undisturbed one.
[[nodiscard]] Result<std::uint64_t> newest_generation(Env& env, const std::string& cache);

}  // namespace xtts::store
