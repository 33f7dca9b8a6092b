// Cache opens one published generation of a cache for reading. Part of libxtts_reader.so, which
// needs only the C++ runtime.
//
//   auto cache = xtts::Cache::open("./cache");
//   if (!cache.ok()) return report(cache.status());
//   auto mel = cache->read("mel", "LJ001-0001");    // Result<Record>: [frames, mels], checked
//   auto numbers = mel->as_floats();                // Result<std::span<const float>>
//
// Every byte is verified before the reader returns it. Nothing is converted, and padding is left
// out (padding() tells its number). Damage, truncation and I/O errors are Status values, never
// signals or exceptions. One exception: the bytes of view() lie in the file. If that file is
// truncated while they are used, the user's own read raises SIGBUS.
//
// Lifetime: a Cache keeps its generation readable while it lives, even if a builder publishes
// another. A Record owns its bytes, or keeps the cache open in which they lie, and may outlive the
// Cache. Threads: any number of threads may call the const members of a Cache, but not while it is
// moved or destroyed. After a fork() the child opens the cache again. Failures: kNotFound (no
// cache there, no such clip or column), kCorrupt (damaged: run `xtts-precompute verify`),
// kUnsupported (a newer format), kMismatch (another dtype than asked for), kResource (memory,
// I/O).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/dtype.hpp"
#include "xtts/export.hpp"
#include "xtts/mel_normalization.hpp"
#include "xtts/status.hpp"

namespace xtts {

// The facts about a clip, apart from its records. Unknown ones are empty.
struct ClipInfo {
  std::string id;  // "id", or "data set/id" where the corpus has data sets
  std::string dataset;
  std::string split;  // train, validation, test
  std::string speaker;
  std::string language;
  std::string text;               // as in the clip's list
  std::string text_normalized;    // if the list has one
  double duration_s = 0;          // of the features
  std::uint32_t frame_count = 0;  // of the mel
  std::uint32_t token_count = 0;
};

struct ColumnInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // of a padded record; axis 0 has the true length
  // The axis that the rows follow: frames, tokens, own (each clip has its own number), fixed.
  std::string axis;
  std::uint32_t rows_per_frame = 0;  // 0: another axis
  // Only for columns that were added to the cache (add_column.hpp): the version of the
  // computation, and the number of clips without a record, because they came or changed since.
  bool is_added = false;
  std::string version;
  std::uint64_t missing_count = 0;
};

// Statistics per channel of a column, over the true frames of the train split, as its recipe
// computes them. They are frozen when the cache is first published, so that continued training
// finds the numbers that the model was trained with.
struct ColumnStatistics {
  std::uint64_t frame_count = 0;
  std::vector<double> mean;
  std::vector<double> deviation;  // of the population
  // The cache was written by `convert --bake corpus`: its records are already normalized by them.
  // The original value is x * max(deviation, 1e-5) + mean.
  bool is_baked = false;
};

// One column of one clip. Immutable; copies share the bytes, which live until the last copy goes.
// A view of a temporary one does not compile: here, in Cache and in Batch.
class Record {
 public:
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  // [true length, rest of the column's shape]
  [[nodiscard]] const std::vector<std::uint32_t>& shape() const& noexcept { return shape_; }
  const std::vector<std::uint32_t>& shape() const&& = delete;
  // The true rows, C order, little-endian. Valid while this Record or a copy of it lives.
  [[nodiscard]] std::span<const std::byte> bytes() const& noexcept { return bytes_; }
  std::span<const std::byte> bytes() const&& = delete;
  // The number behind the true rows in a batch. Each record has its own, because some recipes
  // (whisper) pad with what the clip's own silence comes to.
  [[nodiscard]] double padding() const noexcept { return padding_; }
  // True: the bytes are the cache's own memory, not a copy.
  [[nodiscard]] bool is_view() const noexcept { return is_view_; }
  // The bytes as numbers; kMismatch: the column has another dtype.
  [[nodiscard]] XTTS_API Result<std::span<const float>> as_floats() const&;
  Result<std::span<const float>> as_floats() const&& = delete;
  [[nodiscard]] XTTS_API Result<std::span<const std::int32_t>> as_int32s() const&;
  Result<std::span<const std::int32_t>> as_int32s() const&& = delete;

 private:
  friend class Cache;
  DType dtype_ = DType::kFloat32;
  std::vector<std::uint32_t> shape_;
  std::span<const std::byte> bytes_;
  double padding_ = 0;
  std::shared_ptr<const void> owner_;  // of the memory of bytes_
  bool is_view_ = false;
};

class Cache {
 public:
  // A cache, or a set of caches (`xtts-precompute set`): its clips have one order.
  [[nodiscard]] static XTTS_API Result<Cache> open(std::string_view path);
  // Opens several caches as one: the clips of the first, then those of the second, and so on. The
  // tables of speakers and languages are merged; columns that not all have are left out.
  // kMismatch: the caches do not go together.
  [[nodiscard]] static XTTS_API Result<Cache> open(std::span<const std::string> paths);
  [[nodiscard]] static Result<Cache> open(std::initializer_list<std::string> paths) {
    return open(std::span(paths.begin(), paths.size()));
  }
  XTTS_API ~Cache();
  // A moved-from cache is empty: its calls fail with kInvalidArgument, or give nothing.
  XTTS_API Cache(Cache&& other) noexcept;
  XTTS_API Cache& operator=(Cache&& other) noexcept;

  [[nodiscard]] XTTS_API const std::string& path() const& noexcept;  // of the first cache
  const std::string& path() const&& = delete;
  [[nodiscard]] XTTS_API std::vector<std::string> paths() const;
  [[nodiscard]] XTTS_API const std::string& recipe_name() const& noexcept;
  const std::string& recipe_name() const&& = delete;
  // 32 hexadecimal digits; equal for two caches whose features have the same definition.
  [[nodiscard]] XTTS_API std::string features_fingerprint() const;
  [[nodiscard]] XTTS_API std::string text_fingerprint() const;
  [[nodiscard]] XTTS_API std::uint64_t generation() const noexcept;  // of the first cache
  // 32 hexadecimal digits: identifies the caches and their generations.
  [[nodiscard]] XTTS_API std::string digest() const;
  [[nodiscard]] XTTS_API std::vector<ColumnInfo> columns() const;
  // kNotFound: the cache has none for this column. kMismatch: several caches differ in theirs.
  [[nodiscard]] XTTS_API Result<ColumnStatistics> statistics(std::string_view column) const;
  // Tells what the numbers of its mels mean. nullopt: it has none. kUnsupported: its recipe is of a
  // newer version.
  [[nodiscard]] XTTS_API Result<std::optional<Normalization>> normalization() const;
  // Names, indexed by the numbers in batches.
  [[nodiscard]] XTTS_API const std::vector<std::string>& speakers() const& noexcept;
  const std::vector<std::string>& speakers() const&& = delete;
  [[nodiscard]] XTTS_API const std::vector<std::string>& languages() const& noexcept;
  const std::vector<std::string>& languages() const&& = delete;
  // Names of the corpora in the cache, sorted; empty if it was built from one corpus by itself.
  [[nodiscard]] XTTS_API std::vector<std::string> datasets() const;

  // Clips, at positions 0 to size() - 1 in canonical order: data set, split, id.
  [[nodiscard]] XTTS_API std::uint64_t size() const noexcept;
  // "id", or "data set/id" where the corpus has data sets.
  [[nodiscard]] XTTS_API Result<std::string> id(std::uint64_t position) const;
  [[nodiscard]] XTTS_API Result<ClipInfo> clip(std::uint64_t position) const;
  // nullopt: there is no such clip.
  [[nodiscard]] XTTS_API Result<std::optional<std::uint64_t>> find(std::string_view id) const;

  [[nodiscard]] XTTS_API Result<Record> read(std::string_view column, std::uint64_t position) const;
  [[nodiscard]] XTTS_API Result<Record> read(std::string_view column, std::string_view id) const;
  // read() without a copy, where the file can be mapped: the record lies in the cache and keeps it
  // open. It is verified at its first use.
  [[nodiscard]] XTTS_API Result<Record> view(std::string_view column, std::uint64_t position) const;

 private:
  friend class Reader;  // batch.hpp
  struct Impl;
  explicit Cache(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
