// StoredRow: the records of a clip in caches, verified. They lie in mapped blocks, or in staging
// memory. One thread at a time. Failures: those of BlockMap, with the clip's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loader/batch_slot.hpp"
#include "loader/record_staging.hpp"
#include "loader/row_filler.hpp"
#include "reader/block_map.hpp"
#include "reader/cache_set.hpp"

namespace xtts::loader {

class StoredRow final : public RowRecords {
 public:
  // `caches`, `staging` and `slot` must outlive it. `staging` may be null.
  StoredRow(const reader::CacheSet& caches, RecordStaging* staging, BatchSlot& slot,
            std::uint32_t row, reader::Check check)
      : caches_(caches), staging_(staging), slot_(slot), row_(row), check_(check) {}

  [[nodiscard]] Result<RecordHead> find(std::size_t column) override;
  [[nodiscard]] Status verify_in_place() override;
  [[nodiscard]] Status copy_bytes(std::uint64_t offset_bytes, std::size_t size_bytes,
                                  device::SlotMemory& slot, std::size_t place) override;
  [[nodiscard]] Status show(std::uint64_t offset_bytes, std::size_t size_bytes,
                            GuardedReader reader, void* context) override;
  [[nodiscard]] Status wrong_length(const ColumnLayout& column,
                                    std::uint64_t length) const override;

 private:
  [[nodiscard]] std::uint64_t& ticket() const { return slot_.records.tickets[column_][row_]; }
  [[nodiscard]] std::span<const std::byte> staged_record() const;

  const reader::CacheSet& caches_;
  RecordStaging* staging_;
  BatchSlot& slot_;
  const std::uint32_t row_;
  const reader::Check check_;
  std::size_t column_ = 0;     // set by find()
  reader::RecordPlace place_;  // where the column's record lies
};

}  // namespace xtts::loader
