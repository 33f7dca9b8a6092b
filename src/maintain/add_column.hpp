// ColumnAddition: a further column of a published cache, record by record from whoever computes it
// (cache.add_column in Python): pitch, durations, embeddings, codes.
//
// Shards of the column are new files, sealed and journalled as a build's; what is there is not
// touched. The same addition goes on where an interrupted one was, and makes only what is missing
// where the column is there already under the same version. The manifest names the column when
// finish() has published it. One thread at a time; holds the builder's lock. Memory: two shard
// images. Failures: kInvalidArgument (a record that does not fit), kBusy, kMismatch, kResource.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "maintain/new_cache.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct NewColumn {
  std::string name;
  std::string version = {};  // of what computes it: another one is another column
  formats::Axis axis = formats::Axis::kFrames;
  DType dtype = DType::kFloat32;
  // kFixed, kOwn: the whole (padded) shape; else what stands behind the first axis.
  std::vector<std::uint32_t> row_shape = {};
  std::uint32_t rows_per_frame = 1;  // kFrames
  bool allow_nonfinite = false;      // NaN and infinity mean something: they are stored
};

// What batches, clips and the query language call something else: `batch.positions` is no column.
// Sorted. Names that end in `_len` are those of columns' lengths, and names that begin with `_` are
// internal: both are refused as well.
[[nodiscard]] std::span<const std::string_view> reserved_column_names();

struct AdditionReport {
  bool unchanged = false;
  std::uint64_t generation = 1;
  std::uint64_t added_count = 0;  // records
  std::uint64_t record_count = 0;
  std::uint64_t bytes = 0;  // of the column
};

class ColumnAddition {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ColumnAddition>> open(Env& env,
                                                                    const std::string& cache,
                                                                    const NewColumn& column,
                                                                    const WriteRun& run);
  virtual ~ColumnAddition() = default;

  [[nodiscard]] virtual reader::CacheView& view() = 0;
  // Positions of the clips to make, ascending; those before done_count() are sealed already.
  [[nodiscard]] virtual const std::vector<std::uint64_t>& to_make() const = 0;
  [[nodiscard]] virtual std::uint64_t done_count() const = 0;
  // Rows that the clip's record must have; kOwn: that it may have at most.
  [[nodiscard]] virtual Result<std::uint32_t> length_of(std::uint64_t position) = 0;
  // The next clip of to_make(): all of its rows, of this machine's byte order. kInvalidArgument
  // where a value is not finite, unless the column allows it.
  [[nodiscard]] virtual Status put(std::span<const std::byte> rows) = 0;
  // Publishes; once all clips were put.
  [[nodiscard]] virtual Result<AdditionReport> finish() = 0;
};

}  // namespace xtts::maintain
