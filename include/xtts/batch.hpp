// Reader gives batches of fixed shape from a cache. Its threads fill them ahead. Part of
// libxtts_reader.so.
//
//   auto cache = xtts::Cache::open("./cache");
//   auto reader = xtts::Reader::open(*cache, {.batch_size = 32, .split = "train"});
//   for (std::uint64_t epoch = 0; epoch < 100; ++epoch) {
//     reader->set_epoch(epoch);
//     for (;;) {
//       auto batch = reader->next();            // Result<std::optional<Batch>>
//       if (!batch.ok()) return report(batch.status());
//       if (!*batch) break;                     // the epoch is at its end
//       train(*(*batch)->find("mel"), *(*batch)->find("tokens"));
//     }
//   }
//
// If cache, seed, epoch and selection are equal, the order is the same on every machine, for any
// number of threads and ranks (formats/order-v1.md). Errors are values: the library never prints
// or exits, and a damaged file does not crash it. One exception: a view (BatchColumn::is_view) lies
// in the cache's file. If that file is truncated while the batch is used, the user's own read
// raises SIGBUS.
//
// Lifetime: a Reader keeps its cache's generation readable. A Batch is a lease on one of the
// reader's slots. The slot is free again when the last copy of the batch is destroyed, which may
// be after the Reader. Each batch that you keep occupies a slot; next() fails when all are kept.
//
// Threads: a Reader belongs to one thread at a time. Any thread may call stats(), left_out() and
// interrupt() meanwhile, but not while the Reader is moved or destroyed. Any thread may use and
// drop a Batch. After a fork() the child opens its own Reader: next() of an inherited one fails
// with kUnsupported. The child may destroy it safely.
//
// Structs that grow: options are aggregates; give their members by name, as in {.batch_size = 32}.
// New members come at the end, with a default that keeps the old behaviour. Functions receive the
// options' size in a default argument. So a program that was built against other headers gets
// kUnsupported, and the library does not read beyond the struct's end. Results and classes change
// their size only together with the number in the library's file name. The same rules hold in
// builder.hpp, runtime.hpp, recipe_info.hpp and add_column.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/clip_source.hpp"
#include "xtts/device_id.hpp"
#include "xtts/dtype.hpp"
#include "xtts/export.hpp"
#include "xtts/reader.hpp"
#include "xtts/status.hpp"

namespace xtts {

enum class Shuffle : std::uint8_t {
  kNone,    // canonical order; batches are views of the cache where they can be
  kGlobal,  // samples in any order: for memory and SSDs
  kWindow,  // long sequential reads, mixed in a bounded pool: for rotating disks and networks
};

// Treatment of the samples at an epoch's end that do not fill a batch on every rank.
enum class LastBatch : std::uint8_t {
  kDrop,  // left out
  kPad,   // they form a last batch with fewer valid rows; some ranks may have none
};

// Treatment of a damaged record: one that cannot be read, or whose bytes have changed.
enum class OnDamage : std::uint8_t {
  kRaise,  // next() fails and names the clip; the next call continues with the next batch
  kSkip,   // the batch omits the clip, has fewer valid rows (perhaps none), and the stats count it.
           // An epoch that loses more than ReaderOptions::max_damage fails. A lack of memory,
           // descriptors or a part of this build is never skipped
  kIgnore,  // the record is used as it is, if it can be read at all
};

// Treatment of finite values that a column's dtype cannot hold: float16 ends at 65,504.
enum class OnRange : std::uint8_t {
  kRaise,  // next() fails with kInvalidArgument, and names clip, column, value and a dtype that
           // holds it; the next call continues with the next batch
  kClip,   // the value becomes the largest of the dtype, and the stats count it
};

// How the reader reads records from storage.
enum class Reading : std::uint8_t {
  kAuto,    // one of these, chosen by the storage and by whether the files fit into memory
  kMapped,  // through the system's page cache, where later epochs find them
  kDirect,  // past it: for caches larger than memory. kMapped where the system cannot
};

// Normalization of a float column's true rows: (x - mean) / max(deviation, 1e-5), per channel, in
// float32 (bit for bit as NumPy computes it on float32 arrays), then converted to the dtype asked
// for. Padding is not normalized: it is the pad_value, or the record's own fill value. A
// normalized column is always a copy.
enum class Normalize : std::uint8_t {
  kNone,    // as stored
  kCorpus,  // by Cache::statistics(); as stored where the cache was baked with them. Several caches
            // must have the same statistics
  kGiven,   // by the request's numbers, for example of another cache or of a model
};

struct ColumnRequest {
  std::string name;
  std::optional<DType> dtype = {};       // another float type than the stored one; unset: as stored
  std::optional<double> pad_value = {};  // unset: each record's own fill value
  Normalize normalize = Normalize::kNone;
  std::vector<double> means = {};  // for kGiven: one per channel, as in `deviations`
  std::vector<double> deviations = {};
};

enum class WeightBy : std::uint8_t { kLanguage, kSpeaker, kDataset };

// Weights set how often groups of clips are drawn, whatever their sizes. A group's weight is its
// clip count to the power of `temperature`: 1 keeps the corpus' proportions, 0 makes all groups
// equal. Every clip of a group comes once before any comes again, across epochs. Clips without a
// language or speaker form their own group. Needs Shuffle::kGlobal.
struct Weights {
  WeightBy by = WeightBy::kLanguage;
  double temperature = 1.0;
  std::uint64_t draw_count = 0;  // samples per epoch; 0: the number of clips
};

// A bucket makes batches of clips of similar length, to reduce padding. A clip goes to the first
// bucket whose limits it fits. Every batch holds clips of one bucket and is as long as the
// bucket's limits; in one step all ranks have the same bucket. Columns along frames (mel, wave,
// ...) are cut to `frames_max`, tokens to `tokens_max`: this cuts only padding, never a clip.
struct Bucket {
  std::uint32_t batch_size = 32;  // of one rank
  std::uint32_t frames_max = 0;   // 0: the cache's own length
  std::uint32_t tokens_max = 0;
};

enum class LogLevel : std::uint8_t {
  kInfo,     // how the caches are read; a clip that has no record (ClipSource)
  kNotice,   // a request that the system refused, or an epoch without a batch
  kWarning,  // a damaged clip; clips that an epoch has left out
};

// Called on the thread that runs Reader::open() or next(). A log that throws is not called again.
using ReaderLog = std::function<void(LogLevel level, const std::string& text)>;

struct ReaderOptions {
  std::uint32_t batch_size = 32;  // per rank; unused with buckets
  std::string split = {};         // train, validation, test; empty: all clips
  Shuffle shuffle = Shuffle::kGlobal;
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  LastBatch last_batch = LastBatch::kDrop;
  std::vector<ColumnRequest> columns = {};  // empty: all columns, as stored
  std::string where = {};                   // an expression, as `ls --where` takes it
  std::vector<std::string> ids = {};        // only these clips
  std::vector<std::string> exclude = {};    // not these
  std::optional<Weights> weights = {};
  std::vector<Bucket> buckets = {};  // at most 32; every clip has to fit into one of them
  // If not 0: each clip is cropped to this many frames; shorter clips stay whole. Seed, epoch and
  // place in the epoch choose the crop, the same one in all columns along frames. Not with
  // buckets.
  std::uint32_t crop_frames = 0;
  bool verify_records = true;  // once per record, at its first use
  OnDamage on_damage = OnDamage::kRaise;
  std::uint32_t slot_count = 4;  // batches in memory, the consumer's included; at least 3
  // Threads that fill batches; the consumer helps with a batch that it waits for. 0: two, or one
  // where the machine has no third core. If clips are computed: 0 means
  // ClipSource::thread_count(), and the consumer only waits.
  std::uint32_t thread_count = 0;
  // "cpu"; "cuda" or "cuda:N", a GPU; "auto": the first GPU, or else the CPU; "pinned": the CPU,
  // with slots that are page-locked for a framework's own copies to a GPU. If "auto" and "pinned"
  // find no GPU, ReaderStats::notice says why.
  std::string device = "cpu";
  // Locks the slots in memory and, for kWindow, the pages of two windows until they are used, as
  // far as the limits allow (ReaderStats::notice tells).
  bool lock_memory = false;
  // kWindow: the number of samples in one run of reading, and the number of runs that are mixed.
  // 0: runs of 32 MiB, and 16 of them. In a corpus that is sorted by speaker, a batch has about as
  // many speakers as there are runs, at most. More and shorter runs mix better and read slower
  // (src/loader/README.md).
  std::uint64_t stretch_samples = 0;
  std::uint64_t stretches_per_window = 0;
  Reading reading = Reading::kAuto;
  // OnDamage::kSkip: the share of this rank's samples that an epoch may leave out. Beyond it,
  // next() fails with kCorrupt until set_epoch() or load_state(). 1: no limit.
  double max_damage = 0.05;
  ReaderLog log = {};
  // Reader::open() calls this on its own thread, between clips, while it computes all clips
  // (below). If it returns true or throws, open() ends with kCancelled.
  std::function<bool()> cancelled = {};
  // The memory of a GPU that this process's readers may hold together. 0: no limit.
  std::uint64_t device_memory_bytes = 0;
  // For batches on a GPU: another one, "cuda:0", that receives them from the host, widens,
  // normalizes and pads them, and copies them to `device`. Empty: `device` does it.
  std::string data_device = {};
  std::uint64_t data_device_memory_bytes = 0;  // as device_memory_bytes, of that GPU
  OnRange on_range = OnRange::kRaise;
};

// One column of a batch.
struct BatchColumn {
  std::string_view name;
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // [batch, frames, mels]
  std::span<const std::byte> bytes;  // C order, on `device`; valid after Batch::wait()
  // The true length of each row (axis 0 of its record); 0 for rows without a clip. On the host.
  std::span<const std::int32_t> lengths;
  bool is_view = false;  // the cache's own memory, not a copy
  DeviceId device = {};

  // The column as numbers. kMismatch: the column has another dtype. kUnsupported: the host cannot
  // read the device's memory.
  [[nodiscard]] XTTS_API Result<std::span<const float>> as_floats() const;
  [[nodiscard]] XTTS_API Result<std::span<const std::int32_t>> as_int32s() const;
};

// Immutable. Copies are cheap and share the lease. Columns lie on the reader's device, where a
// transfer may still be running (on the CPU: never). All other data is on the host.
class Batch {
 public:
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // The index in ReaderOptions::buckets; 0 without buckets.
  [[nodiscard]] std::uint32_t bucket() const noexcept { return bucket_; }
  // Rows that hold a clip; they come first.
  [[nodiscard]] std::uint32_t valid_count() const noexcept {
    return static_cast<std::uint32_t>(positions_.size());
  }
  [[nodiscard]] std::span<const BatchColumn> columns() const& noexcept { return columns_; }
  std::span<const BatchColumn> columns() const&& = delete;
  // Null where the batch has no such column.
  [[nodiscard]] XTTS_API const BatchColumn* find(std::string_view name) const& noexcept;
  const BatchColumn* find(std::string_view name) const&& = delete;
  // One number per row, an index in the cache's tables; -1: unknown, or no clip.
  [[nodiscard]] std::span<const std::int32_t> speakers() const& noexcept { return speakers_; }
  std::span<const std::int32_t> speakers() const&& = delete;
  [[nodiscard]] std::span<const std::int32_t> languages() const& noexcept { return languages_; }
  std::span<const std::int32_t> languages() const&& = delete;
  // Positions of the valid rows' clips in the cache.
  [[nodiscard]] std::span<const std::uint64_t> positions() const& noexcept { return positions_; }
  std::span<const std::uint64_t> positions() const&& = delete;

  // Waits until the columns may be read. kResource: they never can be.
  [[nodiscard]] XTTS_API Status wait() const;
  // Makes a device stream (its handle, as in DLPack) wait for the columns, and returns at once:
  // later work on the stream runs when the columns may be read. The slot is not refilled before
  // the work that the stream received while the batch was held is done.
  [[nodiscard]] XTTS_API Status let_wait(std::uintptr_t stream) const;
  // Where a column's `lengths`, speakers() or languages() lie on the columns' device, too. Valid as
  // the columns are. Null: `on_host` is none of these.
  [[nodiscard]] XTTS_API const std::int32_t* on_device(
      std::span<const std::int32_t> on_host) const noexcept;

 private:
  friend class Reader;
  struct Owner;
  std::uint32_t size_ = 0;
  std::uint32_t bucket_ = 0;
  std::vector<BatchColumn> columns_;
  std::span<const std::int32_t> speakers_, languages_;
  std::span<const std::uint64_t> positions_;
  std::shared_ptr<const Owner> owner_;
};

// A reader's position, to be saved with a model's checkpoint.
struct ReaderState {
  std::uint32_t order_version = 1;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples_consumed = 0;  // of the epoch, by all ranks
  // samples_consumed, by bucket; empty without buckets.
  std::vector<std::uint64_t> bucket_samples_consumed;
  std::string cache;      // identifies the generation: the digest of its index
  std::string selection;  // a digest of the selection and the kind of order
};

struct ReaderStats {
  std::uint64_t batch_count = 0;
  std::uint64_t sample_count = 0;
  std::uint64_t bytes = 0;  // of true rows
  std::uint64_t batches_in_place = 0;
  // Samples that were in memory when their rows were filled. Not counted: samples that a filler
  // waited for (measured per MiB), read past the page cache, read from files that the system does
  // not map, or computed.
  std::uint64_t cache_hits = 0;
  // Time between calls of next(): mean and deviation of all, percentiles of the last 8,192.
  double ms_mean = 0, ms_std = 0, ms_p50 = 0, ms_p95 = 0, ms_p99 = 0;
  double consumer_wait_s = 0;        // for batches
  double filler_wait_s = 0;          // for slots, all threads together
  std::uint64_t check_failures = 0;  // damaged clips in batches given out; failed batches
  std::vector<std::string> first_failures;
  // Clips that OnDamage::kSkip has left out, or that turned out to have no record (ClipSource).
  // left_out_count: over all epochs; clips that were known before an epoch began count once.
  // epoch_left_out_count: in the running epoch. epoch_sample_count: this rank's samples per epoch.
  std::uint64_t left_out_count = 0;
  std::uint64_t epoch_left_out_count = 0;
  std::uint64_t epoch_sample_count = 0;
  std::uint64_t saturated_count = 0;  // values that OnRange::kClip has changed
  std::string notice;   // requests that the system refused, and settings that would suit better
  std::string storage;  // the cache's storage, and how much of the cache was in memory at the start
  std::string reading;  // how the cache is read, and why
};

class Reader {
 public:
  // kInvalidArgument (an invalid option), kNotFound (no such column or clip), kUnsupported (no
  // such device), kResource. Leave `options_bytes` at its default ("Structs that grow", above).
  [[nodiscard]] static XTTS_API Result<Reader> open(
      const Cache& cache, const ReaderOptions& options,
      std::size_t options_bytes = sizeof(ReaderOptions));
  // Opens a reader whose clips are computed now, by the threads that fill the batches. Order and
  // bits are those of a cache of the same data. Options are the same, except those of storage:
  // Shuffle::kWindow gives kInvalidArgument, as do `reading`, `verify_records`, `on_damage` and
  // `max_damage` other than their defaults. Normalize::kCorpus gives kUnsupported.
  //
  // Buckets, and a `where` that depends on the sound, make open() compute all selected clips once.
  // This may take hours; ReaderOptions::cancelled can stop it (kCancelled). kSourceIo: a clip
  // could not be read; a later try may succeed.
  //
  // A rejected clip is left out of its batch and of later epochs. With a single rank, the
  // following clips move up; with several, the batch stays shorter. left_out() names the clip.
  // kTooManyRejects: the source allows no more rejects. open() or next() returns it, when the
  // clips are found or, if known, when an epoch begins.
  [[nodiscard]] static XTTS_API Result<Reader> open(
      std::shared_ptr<const ClipSource> clips, const ReaderOptions& options,
      std::size_t options_bytes = sizeof(ReaderOptions));
  XTTS_API ~Reader();
  // A moved-from reader is empty: its calls fail with kInvalidArgument, or give nothing.
  XTTS_API Reader(Reader&& other) noexcept;
  XTTS_API Reader& operator=(Reader&& other) noexcept;

  [[nodiscard]] XTTS_API std::uint64_t sample_count() const noexcept;  // of the selection
  // Samples of an epoch, over all ranks: the draws of weights, or the whole selection.
  [[nodiscard]] XTTS_API std::uint64_t samples_per_epoch() const noexcept;
  // Batches of each rank in this whole epoch. The number differs between epochs in two cases:
  // buckets together with weights draw a varying share of each bucket; and with computed clips, a
  // single rank's epoch omits the clips that were rejected before it began.
  [[nodiscard]] XTTS_API std::uint64_t batches_per_epoch() const noexcept;
  // Starts this epoch from its beginning. A new reader stands at the beginning of epoch 0.
  XTTS_API void set_epoch(std::uint64_t epoch);
  [[nodiscard]] XTTS_API std::uint64_t epoch() const noexcept;
  // The next batch of this rank; nullopt at the epoch's end. kCancelled: interrupt() was called.
  [[nodiscard]] XTTS_API Result<std::optional<Batch>> next();
  // next() with a time limit. kCancelled: the batch is not ready by then; a later call gives it.
  // The caller does not help to fill batches, so a disk that hangs does not block it.
  [[nodiscard]] XTTS_API Result<std::optional<Batch>> next(std::chrono::milliseconds limit);
  // Ends the running next(), or else the next one, with kCancelled; the reader stays where it is.
  // Any thread may call this. A next() without a time limit first finishes the part that it fills,
  // a MiB; if clips are computed, it fills none.
  XTTS_API void interrupt() noexcept;

  // Batches that next() has returned count as consumed.
  [[nodiscard]] XTTS_API ReaderState state() const;
  // Continues after the samples that the state's reader had consumed, also with another batch size
  // or number of ranks. The state's seed replaces the reader's. kMismatch: the state is of another
  // generation, selection or kind of order.
  [[nodiscard]] XTTS_API Status load_state(const ReaderState& state);

  // Any thread may call this, also while another is in next().
  [[nodiscard]] XTTS_API ReaderStats stats() const;
  // Positions of the clips left out so far, each once, in the order in which they were met: in a
  // batch, or when an epoch that omits them began. Any thread may call this, as stats().
  [[nodiscard]] XTTS_API std::vector<std::uint64_t> left_out() const;

 private:
  struct Impl;
  using Clock = std::chrono::steady_clock;
  explicit Reader(std::unique_ptr<Impl> impl) noexcept;
  [[nodiscard]] Result<std::optional<Batch>> next_until(std::optional<Clock::time_point> until);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
