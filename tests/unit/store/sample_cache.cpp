#include "sample_cache.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "formats/enum_names.hpp"
#include "formats/index.hpp"

namespace xtts::testing {

SampleIndex sample_index(std::uint64_t generation, const std::string& text) {
  SampleIndex index;
  formats::IndexEncoder encoder(
      [&](std::span<const std::byte> bytes) {
        index.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status();
      },
      generation, 0);
  EXPECT_TRUE(encoder.begin_section(formats::SectionKind::kRejects).ok());
  EXPECT_TRUE(encoder.append(as_bytes(std::string_view(text))).ok());
  EXPECT_TRUE(encoder.end_section(1).ok());
  const auto finished = encoder.finish();
  EXPECT_TRUE(finished.ok()) << finished.status().message();
  if (finished) index.digest = finished->digest;
  return index;
}

formats::Manifest sample_manifest(std::uint64_t generation, const SampleIndex& index,
                                  const std::vector<SampleColumn>& columns) {
  formats::Manifest manifest;
  manifest.generation = generation;
  manifest.recipe_name = "sample";
  manifest.features = manifest.text = manifest.corpus = manifest.storage = nlohmann::json::object();
  manifest.index_bytes = index.bytes.size();
  manifest.index_digest = index.digest;
  manifest.data_layout = "folder";
  for (const SampleColumn& column : columns) {
    formats::ColumnEntry entry;
    entry.spec = column.spec;
    if (!column.shards.empty()) entry.store = column.shards.front().store;
    manifest.storage["store"] = std::string(formats::name_of(entry.store));
    for (const store::SealedShard& shard : column.shards) {
      entry.shards.push_back({.file_bytes = shard.table.file_bytes,
                              .structure_check = shard.table.structure_check,
                              .block_count = static_cast<std::uint32_t>(shard.table.blocks.size()),
                              .record_count = shard.record_count,
                              .generation = 1,
                              .digest = shard.digest});
    }
    manifest.columns.push_back(std::move(entry));
  }
  return manifest;
}

Status commit_index(store::CacheFolder& folder, const SampleIndex& index) {
  XTTS_ASSIGN(const auto file, folder.begin_file("index"));
  XTTS_TRY(file->append(as_bytes(std::string_view(index.bytes))));
  XTTS_TRY(file->sync());
  XTTS_TRY(file->close());
  return folder.commit_file("index", formats::index_file_name(index.digest));
}

}  // namespace xtts::testing
