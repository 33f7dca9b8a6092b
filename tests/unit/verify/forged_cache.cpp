#include "forged_cache.hpp"

#include <gtest/gtest.h>

#include "formats/block.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "reader/cache_paths.hpp"
#include "reader/cache_view.hpp"

namespace xtts::testing {
namespace {

std::span<const std::byte> part_of(const std::string& bytes, std::uint64_t offset,
                                   std::uint64_t size) {
  return as_bytes(std::string_view(bytes).substr(offset, size));
}

void put(std::string& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  file.replace(offset, bytes.size(), reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void forge_rows(std::string& shard, formats::BlockPlace& place, std::size_t slot,
                const Forgery& forgery) {
  auto header =
      formats::decode_block_header(part_of(shard, place.header_offset, formats::kBlockHeaderBytes));
  ASSERT_TRUE(header.ok());
  formats::BlockRecord& record = header->records[slot];
  const auto region =
      part_of(shard, place.payload_offset + record.offset_bytes, header->region_bytes(slot));
  std::vector<std::byte> rows(region.begin(), region.end());
  forgery.change_rows(rows);
  ASSERT_EQ(rows.size(), region.size());
  record.check = formats::record_check(*header, slot, rows);
  put(shard, place.payload_offset + record.offset_bytes, rows);
  const auto encoded = formats::encode_block_header(*header);
  put(shard, place.header_offset, encoded);
  place.header_check = formats::stored_header_check(encoded);
}

void forge_facts(std::string& shard, formats::BlockPlace& place, std::size_t slot,
                 const Forgery& forgery) {
  auto facts = formats::decode_block_facts(part_of(shard, place.facts_offset, place.facts_bytes));
  ASSERT_TRUE(facts.ok());
  forgery.change_facts(facts->records[slot]);
  const std::string encoded = formats::encode_block_facts(*facts);
  ASSERT_EQ(encoded.size(), place.facts_bytes);
  put(shard, place.facts_offset, as_bytes(encoded));
  place.facts_check = formats::stored_facts_check(as_bytes(encoded));
}

// The index with another row among its blocks, and another manifest of the same length.
std::string forge_index(std::string index, std::uint32_t column, std::uint64_t row,
                        const formats::BlockRow& block, const formats::Manifest& manifest) {
  const std::uint64_t footer_at = index.size() - formats::kIndexFooterBytes;
  auto footer = formats::decode_index_footer(part_of(index, footer_at, formats::kIndexFooterBytes),
                                             index.size());
  EXPECT_TRUE(footer.ok());
  const auto* section = footer->find(formats::SectionKind::kBlocks, column);
  std::string bytes;
  append_row(block, bytes);
  put(index, section->offset_bytes + row * formats::kBlockRowBytes, as_bytes(bytes));
  const auto copy = formats::encode_manifest_copy(manifest);
  const auto* copied = footer->find(formats::SectionKind::kManifest);
  EXPECT_TRUE(copied != nullptr && copied->size_bytes == copy->size());
  put(index, copied->offset_bytes, as_bytes(*copy));
  std::string checks;
  for (std::uint64_t chunk = 0; chunk < footer->chunk_count; ++chunk) {
    const std::uint64_t begin = chunk * formats::kIndexChunkBytes;
    const std::uint64_t size =
        std::min<std::uint64_t>(formats::kIndexChunkBytes, footer->data_bytes - begin);
    const std::uint64_t check = formats::index_chunk_check(chunk, part_of(index, begin, size));
    checks.append(reinterpret_cast<const char*>(&check), sizeof check);
  }
  put(index, footer->data_bytes, as_bytes(checks));
  footer->chunk_table_check = check64(as_bytes(checks));
  put(index, footer_at, as_bytes(formats::encode_index_footer(*footer)));
  return index;
}

}  // namespace

void forge(MemoryEnv& env, const std::string& cache, const Forgery& forgery) {
  auto view = reader::CacheView::open(env, cache);
  ASSERT_TRUE(view.ok()) << view.status().message();
  formats::Manifest manifest = (*view)->manifest();
  const std::uint32_t id = manifest.find_column(forgery.column)->spec.id;
  const auto location = (*view)->location(id, forgery.position);
  auto block = (*view)->block(id, location->block_row);
  formats::ColumnEntry& column = manifest.columns[id];
  formats::ShardEntry& entry = column.shards[block->shard];
  const std::string old_shard = join_path(cache, reader::shard_name(column, block->shard));
  std::string shard = env.contents(old_shard);

  formats::ShardTable table{
      .file_bytes = entry.file_bytes, .structure_check = entry.structure_check, .blocks = {}};
  std::size_t place = 0;
  for (std::uint64_t row = 0; row < (*view)->block_count(id); ++row) {
    const auto other = (*view)->block(id, row);
    if (other->shard != block->shard) continue;
    if (row == location->block_row) place = table.blocks.size();
    table.blocks.push_back(other->place);
  }
  if (forgery.change_rows) forge_rows(shard, table.blocks[place], location->slot, forgery);
  if (forgery.change_facts) forge_facts(shard, table.blocks[place], location->slot, forgery);
  block->place = table.blocks[place];
  entry.digest = table.digest();

  const std::string old_index = join_path(cache, formats::index_file_name(manifest.index_digest));
  const std::string index =
      forge_index(env.contents(old_index), id, location->block_row, *block, manifest);
  manifest.index_digest = digest128(
      part_of(index, index.size() - formats::kIndexFooterBytes, formats::kIndexFooterBytes));
  const auto text = formats::encode_manifest(manifest);
  ASSERT_TRUE(text.ok());
  view->reset();
  ASSERT_TRUE(env.remove_file(old_shard).ok());
  ASSERT_TRUE(env.remove_file(old_index).ok());
  env.add_file(join_path(cache, reader::shard_name(column, block->shard)), shard);
  env.add_file(join_path(cache, formats::index_file_name(manifest.index_digest)), index);
  env.add_file(join_path(cache, "manifest.json"), *text);
}

}  // namespace xtts::testing
