#include "reader/shard_files.hpp"

#include <algorithm>

#include "base/formatted.hpp"
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
    shard->wrong_length = formatted("the file has {} bytes, the manifest says {}", found, expected);
  }
  return std::shared_ptr<const ShardFile>(std::move(shard));
}

Status check_length(const ShardFile& shard, std::uint64_t expected_bytes) {
  if (shard.wrong_length.empty()) return {};
  return corrupt(shard.name, std::min(shard.file->size_bytes(), expected_bytes),
                 shard.wrong_length);
}

std::uint64_t key_of(std::uint32_t column_id, std::uint64_t ordinal) {
  return std::uint64_t{column_id} << 32U | ordinal;  // both are u32 on disk
}

}  // namespace

template <typename File>
void ShardFiles::OpenFiles<File>::add(std::uint64_t key, std::shared_ptr<const File> file) {
  by_key.emplace(key, std::move(file));
  oldest_first.push_back(key);
  if (oldest_first.size() <= kOpenMax) return;
  by_key.erase(oldest_first.front());
  oldest_first.pop_front();
}

template <typename Open>
auto ShardFiles::open_making_room(Open open) {
  auto opened = open();
  const bool has_room = opened.ok() || opened.status().code() != StatusCode::kResource ||
                        (open_.by_key.empty() && open_direct_.by_key.empty());
  if (has_room) return opened;
  open_ = {};
  open_direct_ = {};
  return open();
}

Result<std::shared_ptr<const ShardFile>> ShardFiles::open(std::uint32_t column_id,
                                                          std::uint64_t ordinal) {
  XTTS_ASSIGN(auto shard, open_of_any_length(column_id, ordinal));
  XTTS_TRY(check_length(*shard, manifest_.columns[column_id].shards[ordinal].file_bytes));
  return shard;
}

Result<std::shared_ptr<const ShardFile>> ShardFiles::open_of_any_length(std::uint32_t column_id,
                                                                        std::uint64_t ordinal) {
  const std::scoped_lock lock(mutex_);
  return open_locked(column_id, ordinal);
}

Result<std::shared_ptr<const ShardFile>> ShardFiles::open_locked(std::uint32_t column_id,
                                                                 std::uint64_t ordinal) {
  const std::uint64_t key = key_of(column_id, ordinal);
  if (const auto found = open_.by_key.find(key); found != open_.by_key.end()) return found->second;
  XTTS_ASSIGN(auto shard, open_making_room([&] {
                return open_shard(env_, cache_, manifest_.columns[column_id], ordinal);
              }));
  if (shard->wrong_length.empty()) open_.add(key, shard);
  return shard;
}

Result<std::shared_ptr<const DirectFile>> ShardFiles::open_direct(std::uint32_t column_id,
                                                                  std::uint64_t ordinal) {
  const std::uint64_t key = key_of(column_id, ordinal);
  const std::scoped_lock lock(mutex_);
  const auto found = open_direct_.by_key.find(key);
  if (found != open_direct_.by_key.end()) return found->second;
  XTTS_ASSIGN(const auto shard, open_locked(column_id, ordinal));
  XTTS_TRY(check_length(*shard, manifest_.columns[column_id].shards[ordinal].file_bytes));
  XTTS_ASSIGN(auto file, open_making_room([&] { return shard->file->open_direct(); }));
  open_direct_.add(key, file);
  return file;
}

}  // namespace xtts::reader
