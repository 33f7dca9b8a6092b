// CacheView is one published generation of a cache, opened for reading: manifest, plan, details,
// records.
//
// All reads except blocks() use pread through Env, so that damage and truncation are values, never
// SIGBUS. A byte is parsed only after its region is verified. What is open and was read last is
// kept (kept_things.hpp), by all views together that are opened with one Kept. `env` must outlive
// the view.
//
// While the view lives, a shared lock on its index file tells builders to keep this generation's
// files, even after they publish another. A read-only file system is locked the same way; a file
// system without locks is read without one. After a fork the child opens the cache again.
// Synchronised inside: any number of threads. Failures: kNotFound (no manifest: "incomplete,
// continue with ..." if .build/ exists; no such clip or column), kCorrupt (names file, offset,
// clip), kUnsupported, kResource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "reader/block_map.hpp"
#include "reader/clip_table.hpp"
#include "reader/open_generation.hpp"
#include "reader/shard_files.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// One column of one clip, a checked copy.
struct RecordData {
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // [true length, rest of the padded shape]
  std::uint32_t fill_bits = 0;
  std::vector<std::byte> bytes;  // true rows only
};

class CacheView final : public ClipTable {
 public:
  [[nodiscard]] static Result<std::shared_ptr<CacheView>> open(
      Env& env, const std::string& cache,
      const std::shared_ptr<Kept>& kept = std::make_shared<Kept>());

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] const formats::Manifest& manifest() const override { return manifest_; }
  [[nodiscard]] std::uint64_t size() const override { return index_->clip_count(); }
  [[nodiscard]] Result<formats::PlanRow> plan_row(std::uint64_t position) override;
  [[nodiscard]] Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) override;
  [[nodiscard]] Result<formats::RecordFacts> details(std::uint64_t position) override;
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::string_view full_id) override;

  [[nodiscard]] Result<formats::LocationRow> location(std::uint32_t column_id,
                                                      std::uint64_t position);
  [[nodiscard]] Result<formats::BlockRow> block(std::uint32_t column_id, std::uint64_t block_row);
  [[nodiscard]] std::uint64_t block_count(std::uint32_t column_id) const {
    return index_->row_count(formats::SectionKind::kBlocks, column_id);
  }
  // By ascending hash.
  [[nodiscard]] Result<formats::IdHashRow> id_hash_row(std::uint64_t rank);
  [[nodiscard]] Result<std::string> rejects_jsonl();
  [[nodiscard]] Result<std::vector<formats::TombstoneRow>> tombstones();

  [[nodiscard]] Env& env() const { return env_; }
  // The storage of its shards.
  [[nodiscard]] Result<StorageFacts> storage() const { return env_.storage(lasting_path_); }
  // The index file, opened again: for turns at the disk (RandomAccessFile::try_lock), and for
  // reading it as a whole.
  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_index() const;

  // The records in place. The BlockMap lives as long as the view.
  [[nodiscard]] BlockMap& blocks() { return blocks_; }
  // Damage comes without the command that repairs it: the caller may only count it.
  [[nodiscard]] Result<RecordData> read_record(std::string_view column, std::uint64_t position);
  [[nodiscard]] Result<formats::BlockFacts> block_facts(std::uint32_t column_id,
                                                        std::uint64_t block_row);

 private:
  struct PlacedBlock;
  [[nodiscard]] std::string index_path() const;
  CacheView(Env& env, std::string cache, Generation generation, const std::shared_ptr<Kept>& kept);
  [[nodiscard]] Result<PlacedBlock> open_block(std::uint32_t column_id, std::uint64_t block_row);
  [[nodiscard]] Result<RecordData> read_located(const formats::ColumnSpec& column,
                                                const formats::LocationRow& location,
                                                const std::string& clip);

  std::string path_;
  std::string lasting_path_;
  std::shared_ptr<Env> confined_;  // to both
  Env& env_;
  formats::Manifest manifest_;
  std::unique_ptr<IndexReader> index_;
  std::unique_ptr<FileLock> lock_;
  ShardFiles shards_;
  BlockMap blocks_;
};

}  // namespace xtts::reader
