// CacheView is one published generation of a cache, opened for reading: manifest, plan, details,
// records.
//
// All reads except blocks() use pread through Env, so that damage and truncation are values, never
// SIGBUS. A byte is parsed only after its region is verified. The view keeps the last 1,024 chunks
// of 64 KiB of the index, and 64 open shard files. `env` must outlive the view.
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
#include "reader/clip_table.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

class BlockMap;  // block_map.hpp

// One column of one clip, a checked copy.
struct RecordData {
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // [true length, rest of the padded shape]
  std::uint32_t fill_bits = 0;
  std::vector<std::byte> bytes;  // true rows only
};

class CacheView : public ClipTable {
 public:
  [[nodiscard]] static Result<std::shared_ptr<CacheView>> open(Env& env, const std::string& cache);

  [[nodiscard]] virtual Result<formats::LocationRow> location(std::uint32_t column_id,
                                                              std::uint64_t position) = 0;
  [[nodiscard]] virtual Result<formats::BlockRow> block(std::uint32_t column_id,
                                                        std::uint64_t block_row) = 0;
  [[nodiscard]] virtual std::uint64_t block_count(std::uint32_t column_id) const = 0;
  [[nodiscard]] virtual Result<std::string> rejects_jsonl() = 0;
  [[nodiscard]] virtual Result<std::vector<formats::TombstoneRow>> tombstones() = 0;

  [[nodiscard]] virtual Env& env() const = 0;
  // The storage of its shards.
  [[nodiscard]] virtual Result<StorageFacts> storage() const = 0;
  // The index file, opened again: for turns at the disk (RandomAccessFile::try_lock), and for
  // reading it as a whole.
  [[nodiscard]] virtual Result<std::unique_ptr<RandomAccessFile>> open_index() const = 0;

  // The records in place. The BlockMap lives as long as the view.
  [[nodiscard]] virtual BlockMap& blocks() = 0;
  // Damage comes without the command that repairs it: the caller may only count it.
  [[nodiscard]] virtual Result<RecordData> read_record(std::string_view column,
                                                       std::uint64_t position) = 0;
  [[nodiscard]] virtual Result<formats::BlockFacts> block_facts(std::uint32_t column_id,
                                                                std::uint64_t block_row) = 0;
};

}  // namespace xtts::reader
