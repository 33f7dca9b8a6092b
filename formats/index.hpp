// index-DIGEST.bin (cache-v1.md, section 8): rows and footer. Bytes <-> structs, no I/O; pure but
// for IndexEncoder, which keeps running checks and belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "formats/constants.hpp"
#include "formats/shard_table.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// Persisted. Values never change.
enum class SectionKind : std::uint32_t {
  kPlan = 1,
  kLocations = 2,
  kIdHashes = 3,
  kDetails = 4,
  kBlocks = 5,
  kRejects = 6,
  kTombstones = 7,
  kManifest = 8,
};

inline constexpr std::uint8_t kPlanTextCut = 1;
inline constexpr std::uint8_t kPlanAudioCut = 2;
inline constexpr std::uint8_t kPlanWarnings = 4;

struct PlanRow {  // 32 bytes
  std::uint32_t mel_len = 0;
  std::uint32_t text_len = 0;
  std::int32_t speaker = -1;
  std::int16_t language = -1;
  std::uint16_t dataset = 0;
  std::uint8_t split = 0;
  std::uint8_t flags = 0;
  std::uint64_t details_offset = 0;
  std::uint32_t details_bytes = 0;
};
inline constexpr std::size_t kPlanRowBytes = 32;

struct LocationRow {            // 8 bytes
  std::uint32_t block_row = 0;  // in the column's block section
  std::uint16_t slot = 0;
};
inline constexpr std::size_t kLocationRowBytes = 8;
// The block_row of a clip that an added column does not have (yet).
inline constexpr std::uint32_t kNoRecord = 0xFFFFFFFFU;

struct IdHashRow {  // 24 bytes, ascending
  Digest hash;
  std::uint32_t position = 0;
};
inline constexpr std::size_t kIdHashRowBytes = 24;

struct BlockRow {  // 64 bytes
  BlockPlace place;
  std::uint32_t shard = 0;
};
inline constexpr std::size_t kBlockRowBytes = 64;

struct TombstoneRow {  // 12 bytes
  std::uint32_t column_id = 0;
  std::uint32_t block_row = 0;
  std::uint16_t slot = 0;
};
inline constexpr std::size_t kTombstoneRowBytes = 12;

void append_row(const PlanRow& row, std::string& out);
void append_row(const LocationRow& row, std::string& out);
void append_row(const IdHashRow& row, std::string& out);
void append_row(const BlockRow& row, std::string& out);
void append_row(const TombstoneRow& row, std::string& out);

// `bytes` holds exactly one row.
[[nodiscard]] PlanRow decode_plan_row(std::span<const std::byte> bytes);
[[nodiscard]] LocationRow decode_location_row(std::span<const std::byte> bytes);
[[nodiscard]] IdHashRow decode_id_hash_row(std::span<const std::byte> bytes);
[[nodiscard]] BlockRow decode_block_row(std::span<const std::byte> bytes);
[[nodiscard]] TombstoneRow decode_tombstone_row(std::span<const std::byte> bytes);

struct SectionEntry {
  SectionKind kind = SectionKind::kPlan;
  std::uint32_t column_id = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t row_count = 0;
};

struct IndexFooter {
  std::uint64_t generation = 1;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0;  // before the chunk checks
  std::uint64_t chunk_count = 0;
  std::uint64_t chunk_table_check = 0;
  std::uint64_t record_count = 0;
  std::vector<SectionEntry> sections;

  [[nodiscard]] const SectionEntry* find(SectionKind kind,
                                         std::uint32_t column_id = 0) const noexcept;
};

inline constexpr std::size_t kIndexFooterBytes = kPageBytes;
inline constexpr std::size_t kIndexAlignmentBytes = 64;  // sections and the data's end
inline constexpr std::size_t kIndexSectionsMax = 64;
[[nodiscard]] std::string encode_index_footer(const IndexFooter& footer);
// Verifies the footer's own check first, then every rule. The result is safe to follow within a
// file of `file_bytes`.
[[nodiscard]] Result<IndexFooter> decode_index_footer(std::span<const std::byte> bytes,
                                                      std::uint64_t file_bytes);
[[nodiscard]] std::uint64_t index_chunk_check(std::uint64_t chunk,
                                              std::span<const std::byte> bytes);
// True if `row_count` rows of a section's fixed size make `size_bytes`, and for kinds whose rows
// vary.
[[nodiscard]] bool section_rows_fit(SectionKind kind, std::uint64_t size_bytes,
                                    std::uint64_t row_count);

// Writes an index through `sink` (a file's append), with sections of any size. Memory: one chunk
// and 8 bytes a chunk. Failures: the sink's, and kInternal where the calls are out of order or
// rows do not fill their section. After a failure the encoder may only be destroyed.
class IndexEncoder {
 public:
  using Sink = std::function<Status(std::span<const std::byte>)>;
  IndexEncoder(Sink sink, std::uint64_t generation, std::uint64_t record_count);

  [[nodiscard]] Status begin_section(SectionKind kind, std::uint32_t column_id = 0);
  [[nodiscard]] Status append(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t section_bytes() const noexcept;  // bytes so far in the open section
  [[nodiscard]] Status end_section(std::uint64_t row_count);

  struct Finished {
    Digest digest;
    std::uint64_t file_bytes = 0;
  };
  [[nodiscard]] Result<Finished> finish();

 private:
  [[nodiscard]] Status put(std::span<const std::byte> bytes);
  [[nodiscard]] Status pad();  // zeros up to the next multiple of 64
  [[nodiscard]] Status flush_chunk();

  Sink sink_;
  IndexFooter footer_;
  std::vector<std::byte> chunk_;
  std::vector<std::uint64_t> chunk_checks_;
  std::uint64_t written_bytes_ = 0;
  bool section_open_ = false;
};

}  // namespace xtts::formats
