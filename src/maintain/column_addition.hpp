// ColumnAddition: adds a column to a published cache, record by record, with values that the caller
// computes (cache.add_column in Python): pitch, durations, embeddings, codes.
//
// The column's shards are new files, sealed and journalled like a build's; existing shards are not
// touched. An interrupted addition continues when the same addition is started again. If the column
// already exists under the same version, only its missing records are made. The manifest names the
// column when finish() has published it. One thread at a time; holds the builder's lock. Memory:
// two shard images. Failures: kInvalidArgument (a record that does not fit), kBusy, kMismatch,
// kResource.
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
  std::string version = {};  // of the code that computes it: another version is another column
  formats::Axis axis = formats::Axis::kFrames;
  DType dtype = DType::kFloat32;
  // kFixed, kOwn: the whole (padded) shape; else the dimensions behind the first axis.
  std::vector<std::uint32_t> row_shape = {};
  std::uint32_t rows_per_frame = 1;  // kFrames
  bool allow_nonfinite = false;      // NaN and infinity mean something: they are stored
};

// The names that batches, clips and the query language use for something else: `batch.positions` is
// no column. Sorted. Also refused are names that end in `_len` (lengths of columns) and names that
// begin with `_` (internal).
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
  // The number of rows that the clip's record must have; with kOwn, the most that it may have.
  [[nodiscard]] virtual Result<std::uint32_t> length_of(std::uint64_t position) = 0;
  // Adds the record of the next clip of to_make(): all of its rows, in this machine's byte order.
  // kInvalidArgument if a value is not finite, unless the column allows it.
  [[nodiscard]] virtual Status put(std::span<const std::byte> rows) = 0;
  // Publishes the column. Call it when all clips were put.
  [[nodiscard]] virtual Result<AdditionReport> finish() = 0;
};

}  // namespace xtts::maintain
