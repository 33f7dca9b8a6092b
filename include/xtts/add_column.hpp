// ColumnWriter adds a column to a published cache. The caller computes the values: pitch,
// durations, embeddings, codes, tokens of any tokenizer. Part of libxtts_builder.so; the rules of
// builder.hpp on threads, forks and failures hold here too.
//
//   auto writer = xtts::ColumnWriter::open({.cache = "./cache", .name = "pitch", .version = "1"});
//   while (writer->done_count() < writer->clip_count()) {
//     auto clip = writer->next();                       // its position, the rows it needs
//     writer->put(bytes_of(pitch_of(clip->position)));  // rows * row bytes
//   }
//   auto report = writer->finish();                     // publishes
//
// Existing columns stay, and open readers continue with them. The sealed work of an interrupted
// writer is kept: open() with the same options continues it. If the cache already has the column
// under the same version, the writer asks only for clips that lack it. A writer belongs to one
// thread at a time and holds the builder's lock.
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

// The rows of a column follow the clip's frames or tokens. kOwn: each clip has its own number of
// rows. kFixed: all clips have the same number.
enum class ColumnAxis { kFrames, kTokens, kOwn, kFixed };

struct NewColumnOptions {
  std::string cache = {};
  // Reserved: names of batches, clips or the query language ("positions", "mel_len").
  std::string name = {};
  std::string version = {};  // of the computation; another one replaces the column
  ColumnAxis axis = ColumnAxis::kFrames;
  DType dtype = DType::kFloat32;
  // kFixed, kOwn: the (largest) shape of a record. Other axes: the shape without the first axis.
  std::vector<std::uint32_t> row_shape = {};
  std::uint32_t rows_per_frame = 1;  // kFrames
  // true: NaN and infinity are values, and are stored. false: put() refuses them.
  bool allow_nonfinite = false;
  // Tells that another builder may be at work.
  std::function<void(const std::string& text)> notice = {};
};

struct ColumnReport {
  bool unchanged = false;
  std::uint64_t generation = 0;
  std::uint64_t added_count = 0;   // records that were put
  std::uint64_t record_count = 0;  // in the column now
  std::uint64_t size_bytes = 0;
};

class XTTS_API ColumnWriter {
 public:
  // Leave `options_bytes` at its default (builder.hpp).
  [[nodiscard]] static Result<ColumnWriter> open(
      const NewColumnOptions& options, std::size_t options_bytes = sizeof(NewColumnOptions));
  // A moved-from writer is empty: its calls fail with kInvalidArgument, or give 0.
  ColumnWriter(ColumnWriter&&) noexcept;
  ColumnWriter& operator=(ColumnWriter&&) noexcept;
  ~ColumnWriter();

  [[nodiscard]] std::uint64_t clip_count() const noexcept;  // to put
  [[nodiscard]] std::uint64_t done_count() const noexcept;  // put, an earlier writer's too
  // The clip that a later put() takes; `ahead` = 0 is the next one.
  struct Clip {
    std::uint64_t position = 0;   // in the cache
    std::uint32_t row_count = 0;  // kOwn: at most
  };
  [[nodiscard]] Result<Clip> next(std::uint64_t ahead = 0) const;
  // Stores the rows of the next clip, in this machine's byte order. kInvalidArgument: the size
  // does not fit the clip, or a value is not finite; the caller can put the clip again.
  [[nodiscard]] Status put(std::span<const std::byte> rows);
  // Publishes the column; call it after the last put(). An earlier call gives kInvalidArgument and
  // changes nothing. After it the writer is closed: each further call gives kInvalidArgument.
  [[nodiscard]] Result<ColumnReport> finish();

 private:
  struct Impl;
  explicit ColumnWriter(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// SoundReader gives the samples from which the features were computed: decoded, mixed, cut,
// resampled, trimmed, scaled. Open it once for many clips. Any number of threads may read. A source
// that has changed since the build is refused (kMismatch). After a fork, open it anew in the child.
class XTTS_API SoundReader {
 public:
  // `data`: the folder of the sources; empty: where the last build found them. `program` as in
  // BuildOptions.
  [[nodiscard]] static Result<SoundReader> open(const std::string& cache, const std::string& data,
                                                const std::string& program);
  SoundReader(SoundReader&&) noexcept;
  SoundReader& operator=(SoundReader&&) noexcept;
  ~SoundReader();

  [[nodiscard]] std::uint32_t sample_rate_hz() const noexcept;
  [[nodiscard]] Result<std::vector<float>> read(std::uint64_t position);
  // Says which clips read() will be asked for, in ascending order, `clips_together` at a time. Then
  // they are decoded ahead, on a thread for each processor, once read() is asked for the first. A
  // source of several of them is decoded once. Of `process_count` processes, each names its own
  // part and takes its share of the processors. A later call takes the place of this one.
  [[nodiscard]] Status expect(const std::vector<std::uint64_t>& positions,
                              std::uint64_t clips_together = 1, std::uint32_t process_count = 1);
  // Names the source that the clip is a part of; empty: it is decoded from none, or is all of it.
  [[nodiscard]] Result<std::string> source_of(std::uint64_t position);

 private:
  struct Impl;
  explicit SoundReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
