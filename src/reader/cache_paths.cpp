#include "reader/cache_paths.hpp"

namespace xtts::reader {

std::string shard_name(const formats::ColumnEntry& column, std::uint64_t ordinal) {
  return "shards/" + column.spec.name + "/" +
         formats::shard_file_name(ordinal, column.shards[ordinal].digest, column.store);
}

}  // namespace xtts::reader
