#include "verify/shard_scan.hpp"

#include <gtest/gtest.h>

#include "repair_support.hpp"

namespace xtts::testing {
namespace {

// The digest in a shard's name: of the table that the store computed when it wrote it.
std::string digest_in(const std::string& name) {
  return name.substr(name.rfind('-') + 1, 32);
}

TEST(ShardScan, FindsTheTableOfAShardByItsBytesAlone) {
  for (const std::string& name : shard_names()) {
    const auto table = verify::scan_shard(as_bytes(whole(name)), formats::StoreKind::kLmdb);
    ASSERT_TRUE(table.ok()) << table.status().message();
    EXPECT_EQ(table->digest().to_hex(), digest_in(name));
  }
}

TEST(ShardScan, FindsAnotherTableOrNoneWhereAHeaderFactsOrStructureAreDamaged) {
  const std::string name = shard_names("mel").front();
  const std::string& bytes = whole(name);
  for (const std::size_t offset : {std::size_t{3}, header_of(bytes) + 4, header_of(bytes) + 300,
                                   facts_of(bytes), facts_of(bytes) + 100, bytes.size() - 1}) {
    const auto table =
        verify::scan_shard(as_bytes(flipped(bytes, offset)), formats::StoreKind::kLmdb);
    EXPECT_FALSE(table.ok() && table->digest().to_hex() == digest_in(name)) << offset;
  }
}

TEST(ShardScan, TakesAnyBytes) {
  const std::string& bytes = whole(shard_names("tokens").front());
  for (std::size_t size = 0; size <= bytes.size(); size += 1009) {
    const auto table = verify::scan_shard(as_bytes(std::string_view(bytes).substr(0, size)),
                                          formats::StoreKind::kLmdb);
    EXPECT_TRUE(!table.ok() || table->file_bytes == size);
  }
}

TEST(ShardScan, KnowsShardsOfHdf5AndTakesAnyBytesForThem) {
  MemoryEnv env;
  add_repair_corpus(env);
  must_build(env, repair_request({"storage.store=hdf5"}));
  for (const auto& [name, bytes] : files_named(files_below(env), "shards/")) {
    const auto table = verify::scan_shard(as_bytes(bytes), formats::StoreKind::kHdf5);
    ASSERT_TRUE(table.ok()) << table.status().message();
    EXPECT_EQ(table->digest().to_hex(), digest_in(name));
    for (std::size_t size = 0; size < bytes.size(); size += 1009) {
      const auto cut = verify::scan_shard(as_bytes(std::string_view(bytes).substr(0, size)),
                                          formats::StoreKind::kHdf5);
      EXPECT_FALSE(cut.ok() && cut->digest().to_hex() == digest_in(name));
    }
  }
}

}  // namespace
}  // namespace xtts::testing
