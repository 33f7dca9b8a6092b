// manifest.json (cache-v1.md, section 9). Bytes <-> struct, no I/O. Pure functions.
// decode_manifest takes hostile bytes. It verifies the digest before it parses the text, and
// checks format, version and flags before anything else. Failures: kCorrupt, kUnsupported (with
// the version needed).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/block.hpp"
#include "formats/shard_table.hpp"

namespace xtts::formats {

struct ShardEntry {
  std::uint64_t file_bytes = 0;
  std::uint64_t structure_check = 0;
  std::uint32_t block_count = 0;
  std::uint64_t record_count = 0;
  std::uint64_t generation = 1;
  Digest digest;
};

struct ColumnEntry {
  ColumnSpec spec;
  // Members of columns that come from add_column, not from a build.
  std::optional<Axis> axis = {};    // see axis_of
  std::string version;              // version of the column's maker, in its own words
  std::uint64_t missing_count = 0;  // clips added or changed after the column
  StoreKind store =
      StoreKind::kLmdb;         // of its shards: as the storage section says, for all columns
  std::uint32_t fill_bits = 0;  // bits of a float32, or of an int32 for integer columns
  std::uint64_t records_per_shard = 0;  // planned clips; 0: as many as geometry() says
  std::vector<ShardEntry> shards;
};

struct Numerics {
  std::string device = "cpu";
  std::string isa;
  std::string libraries;

  [[nodiscard]] Digest hash() const;
};

struct Statistics {
  std::uint64_t frame_count = 0;
  std::vector<double> mean;
  std::vector<double> std_deviation;
  // The sum of each channel, then the sum of squares of each, in full (base/exact_sum.hpp), so that
  // sets of caches have statistics of the whole. Empty in caches of before.
  std::vector<std::string> sums = {};
};

struct Counts {
  std::uint64_t planned = 0;
  std::uint64_t records = 0;
  std::uint64_t frames = 0;
  double seconds = 0.0;
  std::map<std::string, std::uint64_t> rejects_by_class;  // policy, input, crash, environment
  std::map<std::string, std::uint64_t> records_by_split;  // train, validation, test
};

// Describes a cache that is one of several parts, which merge joins (section 9).
struct Partition {
  std::uint32_t index = 1;  // 1 ... count
  std::uint32_t count = 1;
  Digest plan;  // digest of all clips of all parts

  [[nodiscard]] std::string name() const;  // "2/8"
};

struct Manifest {
  std::uint64_t generation = 1;
  std::string recipe_name;
  nlohmann::json features, text, corpus, storage;  // the four sections, canonical
  Digest features_fingerprint, text_fingerprint, corpus_fingerprint, storage_fingerprint;
  Numerics numerics;
  std::vector<ColumnEntry> columns;  // by column id
  std::vector<std::string> datasets, speakers, languages;
  Counts counts;
  std::optional<Statistics> mel_statistics;
  std::optional<Partition> partition;
  std::uint64_t index_bytes = 0;
  Digest index_digest;
  std::string data_layout;            // the layout that DATA was read as: "ljspeech"
  std::uint32_t ro_compat_flags = 0;  // flags of the cache that was read; written as 0

  // kUnsupported if a newer build has marked the cache as readable for this build but not
  // writable.
  [[nodiscard]] Status allows_changes() const;
  [[nodiscard]] const ColumnEntry* find_column(std::string_view name) const noexcept;
  // Returns the limit on a record's frames; 0 if there is none.
  [[nodiscard]] std::uint32_t max_frames() const;
};

[[nodiscard]] Axis axis_of(const ColumnEntry& column);

// kInternal if a number is NaN or infinite (JSON has no word for it), or if a column's store is
// not the storage section's.
[[nodiscard]] Result<std::string> encode_manifest(const Manifest& manifest);
[[nodiscard]] Result<Manifest> decode_manifest(std::string_view text);

// Encodes the copy of its manifest that an index keeps: all members but the one that names the
// index.
[[nodiscard]] Result<std::string> encode_manifest_copy(const Manifest& manifest);
[[nodiscard]] Result<Manifest> decode_manifest_copy(std::string_view copy,
                                                    std::uint64_t index_bytes,
                                                    const Digest& index_digest);

[[nodiscard]] std::string_view file_extension_of(StoreKind store);  // ".lmdb", ".h5"
[[nodiscard]] std::string shard_file_name(std::uint64_t ordinal, const Digest& digest,
                                          StoreKind store);  // "00000-DIGEST.lmdb"
[[nodiscard]] std::string index_file_name(const Digest& digest);

inline constexpr std::uint64_t kManifestBytesMax = std::uint64_t{256} << 20U;

}  // namespace xtts::formats
