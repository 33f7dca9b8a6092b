// The names and sizes of a cache folder's files, for readers (cache-v1.md, section 2). Pure
// functions. The store has its own copy for writers, because the reader must not need the store.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/manifest.hpp"

namespace xtts::reader {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kRejectsName = "rejects.jsonl";
inline constexpr std::string_view kBuildFolderName = ".build";

// "shards/mel/00000-DIGEST.lmdb" (or .h5), relative to the cache.
[[nodiscard]] std::string shard_name(const formats::ColumnEntry& column, std::uint64_t ordinal);

// The digest in "index-DIGEST.bin"; nullopt for another file's name.
[[nodiscard]] std::optional<Digest> digest_of_index_name(std::string_view name);

// The size of shards and index: all but some kilobytes of a cache.
[[nodiscard]] std::uint64_t cache_bytes(const formats::Manifest& manifest);

}  // namespace xtts::reader
