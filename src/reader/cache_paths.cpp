#include "reader/cache_paths.hpp"

#include "base/formatted.hpp"

namespace xtts::reader {

std::string shard_name(const formats::ColumnEntry& column, std::uint64_t ordinal) {
  return formatted("shards/{}/{}", column.spec.name,
                   formats::shard_file_name(ordinal, column.shards[ordinal].digest, column.store));
}

std::optional<Digest> digest_of_index_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto digest = Digest::from_hex(name.substr(dash + 1, 2 * sizeof(Digest)));
  if (!digest || name != formats::index_file_name(*digest)) return std::nullopt;
  return digest;
}

std::uint64_t cache_bytes(const formats::Manifest& manifest) {
  std::uint64_t bytes = manifest.index_bytes;
  for (const auto& column : manifest.columns) {
    for (const auto& shard : column.shards) bytes += shard.file_bytes;
  }
  return bytes;
}

}  // namespace xtts::reader
