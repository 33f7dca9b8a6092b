#include "reader/shard_files.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "reader/cache_paths.hpp"
#include "reader/missing_file.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::reader {
namespace {

Result<std::shared_ptr<const ShardFile>> open_shard(Env& env, const std::string& cache,
                                                    const formats::ColumnEntry& column,
                                                    std::uint64_t ordinal) {
  auto shard = std::make_shared<ShardFile>();
  shard->name = shard_name(column, ordinal);
  const std::string path = join_path(cache, shard->name);
  auto file = env.open_for_read(path);
  if (!file.ok() && file.status().code() == StatusCode::kNotFound) {
    const Status fetched = fetch_missing(env, cache, shard->name);
    // Also after a failure: the process that fetches ends when the last file is there.
    file = env.open_for_read(path);
    if (!file.ok() && fetched.code() == StatusCode::kResource) return fetched;
  }
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

}  // namespace

template <typename Open>
auto ShardFiles::open_making_room(Open open) {
  auto opened = open();
  if (opened.ok() || opened.status().code() != StatusCode::kResource) return opened;
  const bool were_shards = kept_->shards.clear();
  const bool were_direct = kept_->direct_shards.clear();
  return were_shards || were_direct ? open() : std::move(opened);
}

Result<std::shared_ptr<const ShardFile>> ShardFiles::open(std::uint32_t column_id,
                                                          std::uint64_t ordinal) {
  XTTS_ASSIGN(auto shard, open_of_any_length(column_id, ordinal));
  XTTS_TRY(check_length(*shard, manifest_.columns[column_id].shards[ordinal].file_bytes));
  return shard;
}

Result<std::shared_ptr<const ShardFile>> ShardFiles::open_of_any_length(std::uint32_t column_id,
                                                                        std::uint64_t ordinal) {
  const KeptKey key = key_of(column_id, ordinal);
  if (auto found = kept_->shards.find(key)) return found;
  XTTS_ASSIGN(auto shard, open_making_room([&] {
                return open_shard(env_, cache_, manifest_.columns[column_id], ordinal);
              }));
  return shard->wrong_length.empty() ? kept_->shards.add(key, std::move(shard)) : shard;
}

Result<std::shared_ptr<const DirectFile>> ShardFiles::open_direct(std::uint32_t column_id,
                                                                  std::uint64_t ordinal) {
  const KeptKey key = key_of(column_id, ordinal);
  if (auto found = kept_->direct_shards.find(key)) return found;
  XTTS_ASSIGN(const auto shard, open(column_id, ordinal));
  XTTS_ASSIGN(auto file, open_making_room([&] { return shard->file->open_direct(); }));
  return kept_->direct_shards.add(key, std::move(file));
}

}  // namespace xtts::reader
