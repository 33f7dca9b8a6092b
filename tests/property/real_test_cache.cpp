#include "real_test_cache.hpp"
#include "support/sanitized.hpp"

#include <stdexcept>

#include "store/shard_image.hpp"

namespace xtts::testing {
namespace {

void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

MadeShard make_shard(const formats::ColumnSpec& column, formats::StoreKind store,
                     std::uint64_t generation, const std::vector<TestBlock>& blocks) {
  auto image = store::make_image(column, store, generation);
  require(image.status());
  for (const TestBlock& block : blocks) {
    std::vector<store::PendingRecord> records;
    for (const TestRecord& record : block.records) {
      records.push_back({record.id_hash, record.length, record.fill_bits, as_bytes(record.rows)});
    }
    require((*image)->add_block(records, block.facts));
  }
  const auto finished = (*image)->finish();
  require(finished.status());
  MadeShard shard;
  shard.table = finished->table;
  shard.bytes.assign(reinterpret_cast<const char*>(finished->bytes.data()), finished->bytes.size());
  return shard;
}

}  // namespace

ShardMaker make_real_shards(formats::StoreKind store) {
  return [store](const formats::ColumnSpec& column, std::uint64_t generation,
                 const std::vector<TestBlock>& blocks) {
    return make_shard(column, store, generation, blocks);
  };
}

std::string Storage::name() const {
  return std::string(store == formats::StoreKind::kLmdb ? "Lmdb" : "Hdf5") +
         (layout == formats::Layout::kPadded ? "Padded" : "Packed");
}

std::vector<Storage> all_storages() {
  if (kIsSanitized)
    return {{formats::StoreKind::kLmdb, formats::Layout::kPadded},
            {formats::StoreKind::kHdf5, formats::Layout::kPacked}};
  return {{formats::StoreKind::kLmdb, formats::Layout::kPadded},
          {formats::StoreKind::kLmdb, formats::Layout::kPacked},
          {formats::StoreKind::kHdf5, formats::Layout::kPadded},
          {formats::StoreKind::kHdf5, formats::Layout::kPacked}};
}

}  // namespace xtts::testing
