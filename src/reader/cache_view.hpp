// CacheView: one published generation of a cache, opened for reading: manifest, plan, details,
// records.
//
// All but blocks() is read with pread through Env, so that damage and truncation are values, never
// SIGBUS; a byte is parsed only after the check of its region was verified. Of the index, the 1,024
// chunks of 64 KiB read last are kept; of the shards, 64 open files. `env` must outlive the view.
//
// While it lives, a shared lock on its index file tells builders to leave this generation's files
// alone, whatever they publish meanwhile. A read-only file system is read just so, one without
// locks goes without. After a fork the child opens again. Synchronised inside: any number of
// threads. Failures: kNotFound (no manifest: "incomplete, continue with ..." when .build/ is there;
// no such clip or column), kCorrupt (names file, offset, clip), kUnsupported, kResource.
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
  // What its shards lie on.
  [[nodiscard]] virtual Result<StorageFacts> storage() const = 0;
  // The index file, opened once more: for turns at the disk (RandomAccessFile::try_turn), and to be
  // read as a whole.
  [[nodiscard]] virtual Result<std::unique_ptr<RandomAccessFile>> open_index() const = 0;

  // Its records in place. Lives as long as the view.
  [[nodiscard]] virtual BlockMap& blocks() = 0;
  [[nodiscard]] virtual Result<RecordData> read_record(std::string_view column,
                                                       std::uint64_t position) = 0;
  [[nodiscard]] virtual Result<formats::BlockFacts> block_facts(std::uint32_t column_id,
                                                                std::uint64_t block_row) = 0;
};

}  // namespace xtts::reader
