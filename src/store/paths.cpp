#include "store/cache_folder.hpp"

namespace xtts::store {

std::string manifest_path(const std::string& cache) {
  return join_path(cache, "manifest.json");
}

std::string column_folder(const std::string& cache, std::string_view column) {
  return join_path(join_path(cache, "shards"), column);
}

std::string build_folder(const std::string& cache) {
  return join_path(cache, ".build");
}

std::string rejects_path(const std::string& cache) {
  return join_path(cache, "rejects.jsonl");
}

std::string sources_path(const std::string& cache) {
  return join_path(cache, "sources.bin");
}

std::string shard_path(const std::string& cache, const SealedShard& shard) {
  return join_path(column_folder(cache, shard.column),
                   formats::shard_file_name(shard.ordinal, shard.digest, shard.store));
}

}  // namespace xtts::store
