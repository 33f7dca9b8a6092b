#include "reader/cache_view.hpp"

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "reader/block_reader.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::reader {

namespace {

// Makes the path absolute: shards are opened late, and the program may change its folder first.
std::string lasting_path(Env& env, const std::string& path) {
  auto absolute = env.real_path(path);
  if (!absolute.ok()) return path;
  return std::move(*absolute);
}

}  // namespace

struct CacheView::PlacedBlock {
  std::shared_ptr<const ShardFile> shard;
  formats::BlockPlace place;
};

Result<std::shared_ptr<CacheView>> CacheView::open(Env& env, const std::string& cache,
                                                   const std::shared_ptr<Kept>& kept) {
  const std::shared_ptr<Env> confined = confined_to(env, cache, Links::kNone);
  XTTS_ASSIGN(Generation generation, with_repair(open_generation(*confined, cache, kept), cache));
  return std::shared_ptr<CacheView>(new CacheView(*confined, cache, std::move(generation), kept));
}

CacheView::CacheView(Env& env, std::string cache, Generation generation,
                     const std::shared_ptr<Kept>& kept)
    : path_(std::move(cache)),
      lasting_path_(lasting_path(env, path_)),
      confined_(confined_to(env, lasting_path_, Links::kNone)),
      env_(*confined_),
      manifest_(std::move(generation.loaded.manifest)),
      index_(std::move(generation.index)),
      lock_(std::move(generation.lock)),
      shards_(env_, lasting_path_, manifest_, kept),
      blocks_(shards_, manifest_, *index_, kept) {
  index_->reopen_as(env_, index_path());
}

Result<formats::PlanRow> CacheView::plan_row(std::uint64_t position) {
  return with_repair(index_->plan_row(position), path_);
}

Status CacheView::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) {
  return with_repair(index_->plan_rows(first, rows), path_);
}

Result<formats::RecordFacts> CacheView::details(std::uint64_t position) {
  return with_repair(index_->details(position), path_);
}

Result<std::optional<std::uint64_t>> CacheView::find(std::string_view full_id) {
  return with_repair(index_->find(digest128(full_id)), path_);
}

Result<formats::LocationRow> CacheView::location(std::uint32_t column_id, std::uint64_t position) {
  return with_repair(index_->location(column_id, position), path_);
}

Result<formats::BlockRow> CacheView::block(std::uint32_t column_id, std::uint64_t block_row) {
  return with_repair(index_->block(column_id, block_row), path_);
}

Result<formats::IdHashRow> CacheView::id_hash_row(std::uint64_t rank) {
  return with_repair(index_->id_hash_row(rank), path_);
}

Result<std::string> CacheView::rejects_jsonl() {
  return with_repair(index_->section_text(formats::SectionKind::kRejects), path_);
}

std::string CacheView::index_path() const {
  return join_path(lasting_path_, formats::index_file_name(manifest_.index_digest));
}

Result<std::unique_ptr<RandomAccessFile>> CacheView::open_index() const {
  return env_.open_for_read(index_path());
}

Result<std::vector<formats::TombstoneRow>> CacheView::tombstones() {
  const std::uint64_t count = index_->row_count(formats::SectionKind::kTombstones);
  std::vector<formats::TombstoneRow> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    XTTS_ASSIGN(const auto row, with_repair(index_->tombstone(i), path_));
    rows.push_back(row);
  }
  return rows;
}

Result<CacheView::PlacedBlock> CacheView::open_block(std::uint32_t column_id,
                                                     std::uint64_t block_row) {
  if (column_id >= manifest_.columns.size()) {
    return Status(StatusCode::kNotFound, formatted("there is no column {}", column_id));
  }
  XTTS_ASSIGN(const formats::BlockRow row, index_->block(column_id, block_row));
  if (row.shard >= manifest_.columns[column_id].shards.size()) {
    return Status(
        StatusCode::kCorrupt,
        formatted("the index names shard {} of column {}, which the manifest does not have",
                  row.shard, column_id));
  }
  PlacedBlock block;
  block.place = row.place;
  XTTS_ASSIGN(block.shard, shards_.open_of_any_length(column_id, row.shard));
  return block;
}

Result<RecordData> CacheView::read_record(std::string_view column, std::uint64_t position) {
  const formats::ColumnEntry* const entry = manifest_.find_column(column);
  if (entry == nullptr) {
    return Status(StatusCode::kNotFound, formatted("the cache has no column '{}'", column));
  }
  XTTS_ASSIGN(const auto facts, index_->details(position));
  const std::string clip = full_id(facts);
  XTTS_ASSIGN(const auto location, index_->location(entry->spec.id, position));
  if (location.block_row == formats::kNoRecord)
    return no_record(*entry).with_context("clip " + clip);
  auto record = read_located(entry->spec, location, clip);
  if (record.ok()) return record;
  return record.status().with_context(formatted("reading {} of clip {}", column, clip));
}

Result<RecordData> CacheView::read_located(const formats::ColumnSpec& column,
                                           const formats::LocationRow& location,
                                           const std::string& clip) {
  XTTS_ASSIGN(const PlacedBlock block, open_block(column.id, location.block_row));
  XTTS_ASSIGN(const auto header, read_block_header(*block.shard, block.place, column));
  const std::size_t slot = location.slot;
  if (slot >= header.records.size()) {
    return Status(StatusCode::kCorrupt,
                  formatted("{}: the index names slot {} of a block with {} records",
                            block.shard->name, slot, header.records.size()));
  }
  if (header.records[slot].id_hash != digest128(clip)) {
    return Status(
        StatusCode::kCorrupt,
        formatted("{}: the record in slot {} belongs to another clip", block.shard->name, slot));
  }
  RecordData record;
  record.dtype = column.dtype;
  record.shape = column.shape;
  record.shape[0] = header.records[slot].length;
  record.fill_bits = header.records[slot].fill_bits;
  XTTS_ASSIGN(record.bytes, read_record_region(*block.shard, block.place, header, slot));
  // The padding after the true rows was only needed for the check.
  record.bytes.resize(header.records[slot].length * column.row_bytes());
  return record;
}

Result<formats::BlockFacts> CacheView::block_facts(std::uint32_t column_id,
                                                   std::uint64_t block_row) {
  XTTS_ASSIGN(const PlacedBlock block, with_repair(open_block(column_id, block_row), path_));
  return with_repair(read_block_facts(*block.shard, block.place), path_);
}

}  // namespace xtts::reader
