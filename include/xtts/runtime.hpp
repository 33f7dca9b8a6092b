// Clips computed when they are asked for: what a cache would hold of them, without the cache.
// Installed surface of libxtts_builder.so, by the code that builds caches: the numbers are, bit for
// bit, those of a cache that build_cache() makes anew of the same options on the same machine.
//
//   auto clips = xtts::RuntimeClips::open({.data = "./data"});
//   if (!clips.ok()) return tell(clips.status());
//   auto record = clips->record(0);              // Result<RuntimeRecord>
//   if (record->reject) return tell(record->reject->reason);
//
// Positions are the planned clips in canonical order (data set, split, id), without those that
// their list or text already rules out: where no sound is rejected, they are the positions of that
// cache. A cache that was brought up to date may have other splits and numbers of speakers than a
// new one: it keeps what it has published.
//
// Threads: all const members may be called from any number of threads; whoever is in record()
// computes there, in the calling thread, with buffers that are kept for the next call. Decoding
// happens in processes of the program xtts-decode, one for each thread that computes at once,
// where a codec's crash costs one clip. In a child of fork() record() is kUnsupported: open anew
// there. Memory: about 500 bytes a clip and its text, and a share of `options.memory` for each
// thread. Disk: sources of which several clips are parts are kept decoded in TMPDIR (8 GiB at
// most), in files without names, which go with the object or the process. No exception leaves these
// functions, and nothing is printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/builder.hpp"
#include "xtts/clip_source.hpp"
#include "xtts/dtype.hpp"
#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

struct RuntimeColumn {
  std::string name = {};
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape =
      {};                            // of a padded record; axis 0 is the one with a true length
  std::uint32_t rows_per_frame = 0;  // 0: its rows go along tokens
  // In rows without a clip: bits of a float32, or of an int32 where the column's numbers are whole.
  std::uint32_t fill_bits = 0;
};

// What is known of a clip before it is computed. Empty where it is not known.
struct RuntimeClip {
  std::string id = {};  // "id", or "data set/id" where the corpus has data sets
  std::string dataset = {};
  std::string split = {};  // train, validation, test
  std::string speaker = {};
  std::string language = {};
  std::string text = {};  // as its list has it
  std::string text_normalized = {};
  std::string source = {};           // the file, relative to DATA
  std::int32_t speaker_number = -1;  // in speakers(); -1: unknown
  std::int32_t language_number = -1;
};

struct RuntimeRecord {
  // One column's true rows, C order, in the column's dtype.
  struct Column {
    std::uint32_t length = 0;     // of axis 0
    std::uint32_t fill_bits = 0;  // of what stands behind them, as RuntimeColumn's
    std::vector<std::byte> rows = {};
  };
  std::optional<RejectedClip> reject = {};  // a build would not store the clip: nothing else counts
  std::vector<Column> columns = {};         // as columns() lists them
  double duration_s = 0.0;                  // of the features
};

struct RuntimeCallbacks {
  // What a person should know, a line each. On the calling thread.
  std::function<void(const std::string& text)> notice = {};
};

class RuntimeClips {
 public:
  // Plans DATA as a build does, and computes nothing. Of the options, `cache`, `partition`,
  // `retry_rejects`, `overwrite`, `allow_mixed` and `dry_run` have no meaning here and must be as
  // they are by default; `thread_count` is how many threads will compute at once, `max_rejects`
  // what faults_allowed() tells. Failures: those of build_cache() before its first clip;
  // kUnsupported for corpus.duplicates=drop, which takes all clips at once; kTooManyRejects where
  // no clip is left. `options_bytes` is not for you to give (builder.hpp).
  [[nodiscard]] static XTTS_API Result<RuntimeClips> open(
      const BuildOptions& options, const RuntimeCallbacks& callbacks = {},
      std::size_t options_bytes = sizeof(BuildOptions));
  XTTS_API ~RuntimeClips();
  // What was moved from is empty: its calls fail with kInvalidArgument, or give nothing.
  XTTS_API RuntimeClips(RuntimeClips&& other) noexcept;
  RuntimeClips& operator=(RuntimeClips&& other) = delete;

  [[nodiscard]] XTTS_API const std::string& recipe_name() const noexcept;
  // 32 hexadecimal digits each; equal to those of a cache of the same definition.
  [[nodiscard]] XTTS_API std::string features_fingerprint() const;
  [[nodiscard]] XTTS_API std::string text_fingerprint() const;
  // 32 hexadecimal digits: of the clips, their sources' sizes and times, their texts and the
  // recipe.
  [[nodiscard]] XTTS_API std::string digest() const;
  [[nodiscard]] XTTS_API const std::string& layout_of_data() const noexcept;  // "ljspeech", ...
  [[nodiscard]] XTTS_API std::vector<RuntimeColumn> columns() const;
  // Names, by the numbers that clips have.
  [[nodiscard]] XTTS_API const std::vector<std::string>& speakers() const noexcept;
  [[nodiscard]] XTTS_API const std::vector<std::string>& languages() const noexcept;
  // Known already: lists and texts.
  [[nodiscard]] XTTS_API std::vector<RejectedClip> planned_rejects() const;

  [[nodiscard]] XTTS_API std::uint64_t size() const noexcept;
  [[nodiscard]] XTTS_API Result<RuntimeClip> clip(std::uint64_t position) const;
  // Nothing when there is no such clip.
  [[nodiscard]] XTTS_API std::optional<std::uint64_t> find(std::string_view id) const;
  // Fails with kNotFound (no such position), kResource (memory, disk, no process can be started),
  // kUnsupported (in a forked child), kInternal. What is wrong with the clip is in the record, is
  // found out once and then known; but what the environment did is tried again.
  [[nodiscard]] XTTS_API Result<RuntimeRecord> record(std::uint64_t position) const;

  // Why a clip has no record, as far as that is known by now: whoever asked for it.
  [[nodiscard]] XTTS_API std::optional<RejectedClip> reject(std::uint64_t position) const;
  // For Reader::open() of batch.hpp: batches of these clips. It keeps them, and may outlive this.
  [[nodiscard]] XTTS_API std::shared_ptr<const ClipSource> source() const;

  // How many clips have turned out to be at fault so far (rules of the recipe are no faults), and
  // how many `max_rejects` tolerates: beyond that a build publishes nothing.
  [[nodiscard]] XTTS_API std::uint64_t fault_count() const;
  [[nodiscard]] XTTS_API std::uint64_t faults_allowed() const;

 private:
  struct Impl;
  explicit RuntimeClips(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
