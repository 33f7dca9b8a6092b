// The names of a cache folder's files, for those who read it (cache-v1.md, section 2). Pure
// functions. The store has its own copy for those who write: the reader must not need the store.
#pragma once

#include <string>
#include <string_view>

#include "formats/manifest.hpp"

namespace xtts::reader {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kRejectsName = "rejects.jsonl";
inline constexpr std::string_view kBuildFolderName = ".build";

// "shards/mel/00000-DIGEST.lmdb" (or .h5), relative to the cache.
[[nodiscard]] std::string shard_name(const formats::ColumnEntry& column, std::uint64_t ordinal);

}  // namespace xtts::reader
