// The reader: one published generation of a cache, opened for reading. Installed surface of
// libxtts_reader.so, which needs nothing but the C++ runtime.
//
//   auto cache = xtts::Cache::open("./cache");
//   if (!cache.ok()) return report(cache.status());
//   auto mel = cache->read("mel", "LJ001-0001");    // Result<Record>: [frames, mels], checked
//   auto numbers = mel->as_floats();                // Result<std::span<const float>>
//
// Every byte is verified before it is handed out; nothing is converted, and padding is left out.
// Damage, truncation and I/O errors are Status values, never signals or exceptions; but for
// view(): its bytes lie in the file, and a file that is cut while they are used raises SIGBUS in
// the user's own reading of them.
//
// Lifetime: a Cache keeps its generation readable while it lives, whatever a builder publishes
// meanwhile. A Record owns its bytes, or keeps open the cache that they lie in, and may outlive the
// Cache. Threads: the const members of a
// Cache may be called from any number of threads; moving and destroying it may not run beside them.
// After a fork() the child opens the cache again. Failures: kNotFound (no cache there, no such clip
// or column), kCorrupt (damaged: run `xtts-precompute verify`), kUnsupported (a newer format),
// kMismatch (another dtype than asked for), kResource (memory, I/O).
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
#include "xtts/status.hpp"

namespace xtts {

// What is known of a clip beside its numbers. Empty where it is not known.
struct ClipInfo {
  std::string id;  // "id", or "data set/id" where the corpus has data sets
  std::string dataset;
  std::string split;  // train, validation, test
  std::string speaker;
  std::string language;
  std::string text;               // as its list has it
  std::string text_normalized;    // where the list has that, too
  double duration_s = 0;          // of the features
  std::uint32_t frame_count = 0;  // of the mel
  std::uint32_t token_count = 0;
};

struct ColumnInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // of a padded record; axis 0 is the one with a true length
  // What its rows go along: frames, tokens, own (each clip has as many as it has), fixed.
  std::string axis;
  std::uint32_t rows_per_frame = 0;  // 0: another axis
  // Of columns that were added to the cache (add_column.hpp): of what made it, and the clips that
  // came or changed since, which have no record in it.
  bool is_added = false;
  std::string version;
  std::uint64_t missing_count = 0;
};

// Of each channel of a column, over the true frames of the train split, as its recipe makes them:
// frozen when the cache was first published, so that who goes on with a model finds the numbers
// that it was trained with.
struct ColumnStatistics {
  std::uint64_t frame_count = 0;
  std::vector<double> mean;
  std::vector<double> deviation;  // of the population
  // The cache was written by `convert --bake corpus`: its records are normalized by them already,
  // and x * max(deviation, 1e-5) + mean is what they were.
  bool is_baked = false;
};

// One column of one clip. Immutable; copies share the bytes, which live until the last copy goes.
class Record {
 public:
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  // [true length, rest of the column's shape]
  [[nodiscard]] const std::vector<std::uint32_t>& shape() const noexcept { return shape_; }
  // The true rows, C order, little-endian. Valid while this Record or a copy of it lives.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // The cache's own memory, not a copy.
  [[nodiscard]] bool is_view() const noexcept { return is_view_; }
  // The same memory as numbers; kMismatch where the column has another dtype.
  [[nodiscard]] XTTS_API Result<std::span<const float>> as_floats() const;
  [[nodiscard]] XTTS_API Result<std::span<const std::int32_t>> as_int32s() const;

 private:
  friend class Cache;
  DType dtype_ = DType::kFloat32;
  std::vector<std::uint32_t> shape_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;  // of the memory that bytes_ shows
  bool is_view_ = false;
};

class Cache {
 public:
  [[nodiscard]] static XTTS_API Result<Cache> open(std::string_view path);
  // Several as one: the clips of the first, then those of the second, and so on; one table each of
  // speakers and languages; the columns that all have. kMismatch where they do not go together.
  [[nodiscard]] static XTTS_API Result<Cache> open(std::span<const std::string> paths);
  [[nodiscard]] static Result<Cache> open(std::initializer_list<std::string> paths) {
    return open(std::span(paths.begin(), paths.size()));
  }
  XTTS_API ~Cache();
  // What was moved from is empty: its calls fail with kInvalidArgument, or give nothing.
  XTTS_API Cache(Cache&& other) noexcept;
  XTTS_API Cache& operator=(Cache&& other) noexcept;

  [[nodiscard]] XTTS_API const std::string& path() const noexcept;  // of the first
  [[nodiscard]] XTTS_API std::vector<std::string> paths() const;
  [[nodiscard]] XTTS_API const std::string& recipe_name() const noexcept;
  // 32 hexadecimal digits; equal where two caches hold features of the same definition.
  [[nodiscard]] XTTS_API std::string features_fingerprint() const;
  [[nodiscard]] XTTS_API std::string text_fingerprint() const;
  [[nodiscard]] XTTS_API std::uint64_t generation() const noexcept;  // of the first
  // 32 hexadecimal digits: which generation of which caches.
  [[nodiscard]] XTTS_API std::string digest() const;
  [[nodiscard]] XTTS_API std::vector<ColumnInfo> columns() const;
  // kNotFound: the cache has none for this column. kMismatch: several caches, whose statistics
  // differ.
  [[nodiscard]] XTTS_API Result<ColumnStatistics> statistics(std::string_view column) const;
  // Names, by the numbers that batches carry.
  [[nodiscard]] XTTS_API const std::vector<std::string>& speakers() const noexcept;
  [[nodiscard]] XTTS_API const std::vector<std::string>& languages() const noexcept;
  // Names of the corpora in it, sorted; none where one was built by itself.
  [[nodiscard]] XTTS_API std::vector<std::string> datasets() const;

  // Clips, at positions 0 to size() - 1 in canonical order: data set, split, id.
  [[nodiscard]] XTTS_API std::uint64_t size() const noexcept;
  // "id", or "data set/id" where the corpus has data sets.
  [[nodiscard]] XTTS_API Result<std::string> id(std::uint64_t position) const;
  [[nodiscard]] XTTS_API Result<ClipInfo> clip(std::uint64_t position) const;
  // Nothing when there is no such clip.
  [[nodiscard]] XTTS_API Result<std::optional<std::uint64_t>> find(std::string_view id) const;

  [[nodiscard]] XTTS_API Result<Record> read(std::string_view column, std::uint64_t position) const;
  [[nodiscard]] XTTS_API Result<Record> read(std::string_view column, std::string_view id) const;
  // The same without a copy, where the file can be mapped: the record lies in the cache, and keeps
  // it open. Verified when it is first asked for.
  [[nodiscard]] XTTS_API Result<Record> view(std::string_view column, std::uint64_t position) const;

 private:
  friend class Reader;  // batch.hpp
  struct Impl;
  explicit Cache(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
