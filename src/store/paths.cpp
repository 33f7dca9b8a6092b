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

}  // namespace xtts::store
