// ShardCheck reads and hashes every byte of one shard once, front to back (cache-v1.md, sections 4
// to 7). It parses no byte before its region's check was right, and never parses the bytes of LMDB
// or HDF5. One thread at a time. Findings go to the run.
#pragma once

#include <memory>
#include <vector>

#include "formats/block.hpp"
#include "reader/shard_files.hpp"
#include "verify/piece_reader.hpp"
#include "verify/plan.hpp"

namespace xtts::verify {

class ShardCheck {
 public:
  // All arguments must outlive the ShardCheck.
  ShardCheck(Run& run, reader::IndexReader& index, const Plan& plan, const ColumnPlan& column,
             std::uint32_t ordinal);

  // `buffer` is scratch; its size is the size of a read.
  void run(std::vector<std::byte>& buffer);

 private:
  enum class Part : std::uint8_t { kHeader, kPayload, kFacts, kStructure };
  struct Region {
    formats::ByteRange range;
    Part part = Part::kStructure;
    std::size_t block = 0;  // within the shard
  };

  [[nodiscard]] bool load_table();
  [[nodiscard]] bool open_file();
  [[nodiscard]] std::vector<Region> regions() const;
  void check_region(PieceReader& pieces, const Region& region);
  void check_header(PieceReader& pieces, std::size_t block);
  void check_header_fields(std::size_t block);
  void check_records(PieceReader& pieces, std::size_t block);
  void check_record(PieceReader& pieces, std::size_t block, std::size_t slot);
  void check_owner(std::size_t block, std::size_t slot, std::uint64_t offset_bytes);
  void check_facts(PieceReader& pieces, std::size_t block);
  void hash_structure(PieceReader& pieces, const formats::ByteRange& range);
  void check_structure();

  void add(Finding finding);
  void add_failure(std::uint64_t offset_bytes, Check check, const Status& status,
                   std::string clip = {}, RemedyKind remedy = RemedyKind::kRepair);
  [[nodiscard]] RemedyKind remedy_of_records() const;  // if the file is lost or cut
  [[nodiscard]] RemedyKind remedy_of_record() const;   // if a single one is damaged
  [[nodiscard]] std::string clip_of(std::size_t block, std::size_t slot);
  [[nodiscard]] Evidence lost_header(std::size_t block, const Status& status);
  [[nodiscard]] std::uint64_t row_of(std::size_t block) const noexcept {
    return first_row_ + block;
  }

  Run& run_;
  reader::IndexReader& index_;
  const Plan& plan_;
  const ColumnPlan& column_;
  const formats::ShardEntry& entry_;
  const std::uint32_t ordinal_;
  const std::uint64_t first_row_;

  reader::ShardFile shard_;
  formats::ShardTable table_;
  // By block: sound headers whose records have not yet been checked. LMDB's shards have one at a
  // time, HDF5's have all (3 KiB each).
  std::vector<std::optional<formats::BlockHeader>> headers_;
  std::vector<std::optional<std::vector<Digest>>>
      id_hashes_;  // by block, for the facts, which come later
  Hasher64 structure_;
  bool structure_read_ = true;
};

}  // namespace xtts::verify
