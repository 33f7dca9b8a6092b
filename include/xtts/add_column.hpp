// A further column of a published cache, made by whoever calls: pitch, durations, embeddings,
// codes, tokens of any tokenizer. Installed surface of libxtts_builder.so, beside builder.hpp,
// whose rules on threads, forks and failures hold here too.
//
//   auto writer = xtts::ColumnWriter::open({.cache = "./cache", .name = "pitch", .version = "1"});
//   while (writer->done_count() < writer->clip_count()) {
//     auto clip = writer->next();                       // its position, the rows it needs
//     writer->put(bytes_of(pitch_of(clip->position)));  // rows * row bytes
//   }
//   auto report = writer->finish();                     // publishes
//
// What is there stays, and readers go on with it. An interrupted writer's sealed work is kept: the
// same options go on. Where the column is there under the same version, only clips that lack it are
// asked for. A writer belongs to one thread at a time and holds the builder's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xtts/dtype.hpp"
#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

// What the rows of the column go along; kOwn: each clip has as many as it has, kFixed: all as many.
enum class ColumnAxis { kFrames, kTokens, kOwn, kFixed };

struct NewColumnOptions {
  std::string cache = {};
  // Not what batches, clips or the query language call something else ("positions", "mel_len").
  std::string name = {};
  std::string version = {};  // of what computes it; another one takes the place of what is there
  ColumnAxis axis = ColumnAxis::kFrames;
  DType dtype = DType::kFloat32;
  // kFixed, kOwn: the (largest) shape of a record; else what stands behind the first axis.
  std::vector<std::uint32_t> row_shape = {};
  std::uint32_t rows_per_frame = 1;  // kFrames
  // NaN and infinity mean something, and are stored; else put() refuses them.
  bool allow_nonfinite = false;
  std::function<void(const std::string& text)> notice = {};  // another builder may be at work
};

struct ColumnReport {
  bool unchanged = false;
  std::uint64_t generation = 0;
  std::uint64_t added_count = 0;   // records that were put
  std::uint64_t record_count = 0;  // of the column now
  std::uint64_t size_bytes = 0;
};

class XTTS_API ColumnWriter {
 public:
  // `options_bytes` is not for you to give (builder.hpp).
  [[nodiscard]] static Result<ColumnWriter> open(
      const NewColumnOptions& options, std::size_t options_bytes = sizeof(NewColumnOptions));
  // What was moved from is empty: its calls fail with kInvalidArgument, or give 0.
  ColumnWriter(ColumnWriter&&) noexcept;
  ColumnWriter& operator=(ColumnWriter&&) noexcept;
  ~ColumnWriter();

  [[nodiscard]] std::uint64_t clip_count() const noexcept;  // to be made
  [[nodiscard]] std::uint64_t done_count() const noexcept;  // of them, an earlier writer's included
  // The clip to put as number `ahead` from now on: 0 is the next.
  struct Clip {
    std::uint64_t position = 0;   // in the cache
    std::uint32_t row_count = 0;  // kOwn: at most
  };
  [[nodiscard]] Result<Clip> next(std::uint64_t ahead = 0) const;
  // Of this machine's byte order. kInvalidArgument where they are not the clip's rows, or where a
  // value is not finite: it can be put again.
  [[nodiscard]] Status put(std::span<const std::byte> rows);
  // Once all were put; before that it is kInvalidArgument and changes nothing. The writer is done
  // with after it: each further call is kInvalidArgument.
  [[nodiscard]] Result<ColumnReport> finish();

 private:
  struct Impl;
  explicit ColumnWriter(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// The samples that the features were made of: decoded, mixed, cut, resampled, trimmed, scaled.
// Opened once for many clips; one thread at a time.
class XTTS_API SoundReader {
 public:
  // `data`: where the sources lie; empty: where the last build found them. `program` as in
  // BuildOptions.
  [[nodiscard]] static Result<SoundReader> open(const std::string& cache, const std::string& data,
                                                const std::string& program);
  SoundReader(SoundReader&&) noexcept;
  SoundReader& operator=(SoundReader&&) noexcept;
  ~SoundReader();

  [[nodiscard]] std::uint32_t sample_rate_hz() const noexcept;
  [[nodiscard]] Result<std::vector<float>> read(std::uint64_t position);

 private:
  struct Impl;
  explicit SoundReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
