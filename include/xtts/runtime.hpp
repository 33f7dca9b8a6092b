// RuntimeClips computes clips on demand and gives the records that a cache would hold, without the
// cache. Part of libxtts_builder.so; it uses the code that builds caches. Its numbers equal, bit
// for bit, those of a new cache from build_cache() with the same options on the same machine.
//
//   auto clips = xtts::RuntimeClips::open({.data = "./data"});
//   if (!clips.ok()) return tell(clips.status());
//   auto record = clips->record(0);              // Result<RuntimeRecord>
//   if (record->reject) return tell(record->reject->reason);
//
// Positions number the planned clips in canonical order (data set, split, id). Clips that their
// list or text already rules out have none. If no sound is rejected, the positions equal those of
// that cache. An updated cache may have other splits and speaker numbers than a new one, because
// it keeps what it has published.
//
// Threads: any number of threads may call all const members. record() computes in the calling
// thread and keeps its buffers for the next call. Decoding happens in processes of the program
// xtts-decode, one for each thread that computes at once, so that a codec's crash costs one clip.
// In a child of fork() record() gives kUnsupported: open a new RuntimeClips there.
//
// Memory: about 500 bytes per clip and its text, and a share of `options.memory` for each thread.
// Disk: if several clips are parts of one source, the decoded source is kept in TMPDIR (8 GiB at
// most), in files without names, which vanish with the object or the process. No exception leaves
// these functions, and they print nothing.
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
  std::vector<std::uint32_t> shape = {};  // of a padded record; axis 0 has the true length
  std::uint32_t rows_per_frame = 0;       // 0: its rows follow the tokens
  double padding = 0;                     // of a batch's rows without a clip
};

// The facts about a clip that are known before it is computed. Unknown ones are empty.
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
    std::uint32_t length = 0;  // of axis 0
    double padding = 0;        // the number behind them in a batch
    std::vector<std::byte> rows = {};
  };
  std::optional<RejectedClip> reject = {};  // a build would not store the clip: ignore the rest
  std::vector<Column> columns = {};         // in the order of columns()
  double duration_s = 0.0;                  // of the features
};

struct RuntimeCallbacks {
  // Messages for a person, one line each. Called on the calling thread.
  std::function<void(const std::string& text)> notice = {};
};

class RuntimeClips {
 public:
  // Plans DATA as a build does, and computes nothing. The options `cache`, `partition`,
  // `retry_rejects`, `overwrite`, `allow_mixed` and `dry_run` have no meaning here and must have
  // their defaults. `thread_count` is the number of threads that will compute at once;
  // `max_rejects` determines faults_allowed(). Failures: those of build_cache() before its first
  // clip; kUnsupported for corpus.duplicates=drop, which needs all clips at once; kTooManyRejects
  // if no clip is left. Leave `options_bytes` at its default (builder.hpp).
  [[nodiscard]] static XTTS_API Result<RuntimeClips> open(
      const BuildOptions& options, const RuntimeCallbacks& callbacks = {},
      std::size_t options_bytes = sizeof(BuildOptions));
  XTTS_API ~RuntimeClips();
  // A moved-from object is empty: its calls fail with kInvalidArgument, or give nothing.
  XTTS_API RuntimeClips(RuntimeClips&& other) noexcept;
  RuntimeClips& operator=(RuntimeClips&& other) = delete;

  [[nodiscard]] XTTS_API const std::string& recipe_name() const& noexcept;
  const std::string& recipe_name() const&& = delete;
  // 32 hexadecimal digits each; equal to those of a cache of the same definition.
  [[nodiscard]] XTTS_API std::string features_fingerprint() const;
  [[nodiscard]] XTTS_API std::string text_fingerprint() const;
  // 32 hexadecimal digits: a digest of clips, sources' sizes and times, texts and recipe.
  [[nodiscard]] XTTS_API std::string digest() const;
  [[nodiscard]] XTTS_API const std::string& layout_of_data() const& noexcept;  // "ljspeech", ...
  const std::string& layout_of_data() const&& = delete;
  [[nodiscard]] XTTS_API std::vector<RuntimeColumn> columns() const;
  // Names, indexed by the clips' numbers.
  [[nodiscard]] XTTS_API const std::vector<std::string>& speakers() const& noexcept;
  const std::vector<std::string>& speakers() const&& = delete;
  [[nodiscard]] XTTS_API const std::vector<std::string>& languages() const& noexcept;
  const std::vector<std::string>& languages() const&& = delete;
  // The rejects that planning found: from lists and texts.
  [[nodiscard]] XTTS_API std::vector<RejectedClip> planned_rejects() const;

  [[nodiscard]] XTTS_API std::uint64_t size() const noexcept;
  [[nodiscard]] XTTS_API Result<RuntimeClip> clip(std::uint64_t position) const;
  // nullopt: there is no such clip.
  [[nodiscard]] XTTS_API std::optional<std::uint64_t> find(std::string_view id) const;
  // Computes a record. kNotFound (no such position), kResource (memory, disk, no process can be
  // started), kUnsupported (in a forked child), kInternal. A fault of the clip is in the record;
  // it is found once and then remembered. A failure of the environment is tried again.
  [[nodiscard]] XTTS_API Result<RuntimeRecord> record(std::uint64_t position) const;

  // The reason why a clip has no record, if any call has found one so far.
  [[nodiscard]] XTTS_API std::optional<RejectedClip> reject(std::uint64_t position) const;
  // A source for Reader::open() (batch.hpp), which makes batches of these clips. The source keeps
  // the clips alive and may outlive this object.
  [[nodiscard]] XTTS_API std::shared_ptr<const ClipSource> source() const;

  // The number of faulty clips so far (rules of the recipe are no faults), and the number that
  // `max_rejects` tolerates. Beyond that a build publishes nothing.
  [[nodiscard]] XTTS_API std::uint64_t fault_count() const;
  [[nodiscard]] XTTS_API std::uint64_t faults_allowed() const;

 private:
  struct Impl;
  explicit RuntimeClips(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
