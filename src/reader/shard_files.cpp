#include "reader/shard_files.hpp"

#include "base/try.hpp"
#include "reader/cache_paths.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::reader {
namespace {

Result<std::shared_ptr<const ShardFile>> open_shard(Env& env, const std::string& cache,
                                                    const formats::ColumnEntry& column,
                                                    std::uint64_t ordinal) {
  auto shard = std::make_shared<ShardFile>();
  shard->name = shard_name(column, ordinal);
  auto file = env.open_for_read(join_path(cache, shard->name));
  if (!file.ok()) {
    if (file.status().code() != StatusCode::kNotFound) return file.status();
    return Status(StatusCode::kCorrupt, shard->name + " is missing");
  }
  shard->file = std::move(*file);
  const std::uint64_t expected = column.shards[ordinal].file_bytes;
  const std::uint64_t found = shard->file->size_bytes();
  if (found != expected) {
    return corrupt(shard->name, std::min(found, expected),
                   "the file has " + std::to_string(found) + " bytes, the manifest says " +
                       std::to_string(expected));
  }
  return std::shared_ptr<const ShardFile>(std::move(shard));
}

}  // namespace

Result<std::shared_ptr<const ShardFile>> ShardFiles::open(std::uint32_t column_id,
                                                          std::uint64_t ordinal) {
  const std::uint64_t key = std::uint64_t{column_id} << 32U | ordinal;  // both are u32 on disk
  const std::scoped_lock lock(mutex_);
  if (const auto found = open_.find(key); found != open_.end()) return found->second;
  XTTS_ASSIGN(auto shard, open_shard(env_, cache_, manifest_.columns[column_id], ordinal));
  open_.emplace(key, shard);
  oldest_first_.push_back(key);
  if (oldest_first_.size() > kOpenMax) {
    open_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  return shard;
}

}  // namespace xtts::reader
