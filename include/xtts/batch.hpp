// Fixed-shape batches out of a cache, filled ahead by threads of the reader. Part of
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
// The same cache, seed, epoch and selection give the same order on every machine, for any number of
// threads and ranks (formats/order-v1.md). Errors are values; nothing prints, exits or dies of a
// damaged file, but for one case: a batch that is a view of the cache (BatchColumn::is_view) lies
// in the file, and a file that is cut while such a batch is used raises SIGBUS in the user's own
// reading of it.
//
// Lifetime: a Reader keeps its cache's generation readable. A Batch is a lease on one of the
// reader's slots: it gives the slot back when its last copy goes, and may outlive the Reader; what
// is kept costs a slot, and when all are kept next() says so. Threads: one at a time for a Reader,
// but stats() and interrupt(), which any thread may call beside the others; moving and destroying
// it may not run beside any. A Batch may be used and dropped anywhere. After a fork() the child
// opens its own: next() of the one that it was born with fails with kUnsupported; to destroy it
// there is safe.
//
// Structs that grow: options are aggregates; give their members by name, as in {.batch_size = 32}.
// New members come at the end, with a default that means what was before. A function that takes
// options is told their size by a default argument, so that a program that was built against other
// headers gets kUnsupported, and not a struct that is read beyond its end. Results and classes
// change their size only together with the number in the library's file name. So it is in
// builder.hpp, runtime.hpp, recipe.hpp and add_column.hpp, too.
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
  kGlobal,  // every sample anywhere: memory, SSD
  kWindow,  // long sequential reads, mixed in a bounded pool: rotating disks, network
};

// The samples at an epoch's end that do not fill a batch on every rank.
enum class LastBatch : std::uint8_t {
  kDrop,  // left out
  kPad,   // in a last batch with fewer valid rows, on some ranks perhaps none
};

// A record that cannot be read, or is not what was written.
enum class OnDamage : std::uint8_t {
  kRaise,   // next() fails and names the clip; the call after it goes on with the next batch
  kSkip,    // the batch comes without the clip, with fewer valid rows, perhaps none, and the stats
            // count it; an epoch that loses more than ReaderOptions::max_damage fails. Want of
            // memory, descriptors or a part of this build is never skipped
  kIgnore,  // it comes as it is, where it can be read at all
};

// How records come from where they lie.
enum class Reading : std::uint8_t {
  kAuto,    // one of these, by what the storage is and whether the files fit into memory
  kMapped,  // through the system's page cache, where later epochs find them
  kDirect,  // past it: for caches that are larger than memory. Mapped where the system cannot
};

// What becomes of the true rows of a float column: (x - mean) / max(deviation, 1e-5), each channel
// by its own numbers, in float32 (in every bit what NumPy makes of float32 arrays), then of the
// dtype asked for. What stands behind the true rows is not normalized: it is the pad_value, or the
// record's own fill value. A column that is normalized is always a copy.
enum class Normalize : std::uint8_t {
  kNone,    // as stored
  kCorpus,  // by Cache::statistics(); as stored where these are baked in. Several caches must have
            // the same ones
  kGiven,   // by the request's numbers: those of another cache, or of a model
};

struct ColumnRequest {
  std::string name;
  std::optional<DType> dtype = {};       // another float type than stored; nothing: as stored
  std::optional<double> pad_value = {};  // nothing: each record's own fill value
  Normalize normalize = Normalize::kNone;
  std::vector<double> means = {};  // for Normalize::kGiven, one a channel; deviations likewise
  std::vector<double> deviations = {};
};

enum class WeightBy : std::uint8_t { kLanguage, kSpeaker, kDataset };

// How often groups of clips come, whatever their sizes. A group's weight is the number of its clips
// to the power of `temperature`: 1 is as in the corpus, 0 makes all groups alike. Every clip of a
// group comes once before any comes again, from epoch to epoch. Clips without a language or speaker
// are a group of their own. Needs Shuffle::kGlobal.
struct Weights {
  WeightBy by = WeightBy::kLanguage;
  double temperature = 1.0;
  std::uint64_t draw_count = 0;  // samples of an epoch; 0: as many as there are clips
};

// Batches of clips of like length, so that less of them is padding. A clip goes to the first bucket
// whose limits it keeps; every batch holds clips of one bucket and is as long as its limits, and in
// a step all ranks have the same bucket. Columns along frames (mel, wave, ...) are cut to
// `frames_max`, tokens to `tokens_max`: nothing of a clip is lost.
struct Bucket {
  std::uint32_t batch_size = 32;  // of one rank
  std::uint32_t frames_max = 0;   // 0: as long as the cache has them
  std::uint32_t tokens_max = 0;
};

enum class LogLevel : std::uint8_t {
  kInfo,     // how the caches are read; a clip that has no record (ClipSource)
  kNotice,   // what the system did not grant, or that an epoch has no batch
  kWarning,  // a damaged clip; what an epoch has left out
};

// Called on the thread that is in Reader::open() or next(). One that throws is not called again.
using ReaderLog = std::function<void(LogLevel level, const std::string& text)>;

struct ReaderOptions {
  std::uint32_t batch_size = 32;  // of one rank; without buckets
  std::string split = {};         // train, validation, test; empty: all clips
  Shuffle shuffle = Shuffle::kGlobal;
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  LastBatch last_batch = LastBatch::kDrop;
  std::vector<ColumnRequest> columns = {};  // empty: all that the cache has, as stored
  std::string where = {};                   // an expression, as `ls --where` takes it
  std::vector<std::string> ids = {};        // only these clips
  std::vector<std::string> exclude = {};    // not these
  std::optional<Weights> weights = {};
  std::vector<Bucket> buckets = {};  // at most 32; every clip has to fit into one of them
  // Not 0: so many frames of each clip, from a place that seed, epoch and place in the epoch
  // choose, the same one in all columns along frames; of shorter clips all. Without buckets.
  std::uint32_t crop_frames = 0;
  bool verify_records = true;  // each record once, when it is first handed out
  OnDamage on_damage = OnDamage::kRaise;
  std::uint32_t slot_count = 4;  // batches in memory, the consumer's included; at least 3
  // That fill them; the consumer lends a hand with a batch that it waits for. 0: two, or one where
  // the machine has no third core. Of clips that are computed: ClipSource::thread_count(), and the
  // consumer only waits.
  std::uint32_t thread_count = 0;
  std::string device = "cpu";
  // Keep slots from being swapped out and, for kWindow, the pages of two windows from being taken
  // away before they are used, where the limits allow it (ReaderStats::notice tells).
  bool lock_memory = false;
  // kWindow: samples that are read in one run, and how many such runs are mixed with each other.
  // 0: runs of 32 MiB, and 16 of them. Where a corpus lies sorted by speaker, a batch has at most
  // as many speakers as there are runs, or little more: shorter runs and more of them mix better
  // and read slower (src/loader/README.md).
  std::uint64_t stretch_samples = 0;
  std::uint64_t stretches_per_window = 0;
  Reading reading = Reading::kAuto;
  // OnDamage::kSkip: the share of this rank's samples that an epoch may leave out. Beyond it next()
  // fails with kCorrupt, from there on, until set_epoch() or load_state() begins anew. 1: no limit.
  double max_damage = 0.05;
  ReaderLog log = {};
  // Asked on the thread that is in Reader::open(), between clips, while that computes all of them
  // (below). Once true, or where it throws, open() ends with kCancelled.
  std::function<bool()> cancelled = {};
};

// One column of a batch.
struct BatchColumn {
  std::string_view name;
  DType dtype = DType::kFloat32;
  std::vector<std::uint32_t> shape;  // [batch, frames, mels]
  std::span<const std::byte> bytes;  // C order; in the memory of `device`, after Batch::wait()
  // True length of the record's axis 0, by row; 0 for rows without a clip. On the host.
  std::span<const std::int32_t> lengths;
  bool is_view = false;  // the cache's own memory, not a copy
  DeviceId device = {};

  // The numbers; kMismatch where the column has another dtype, kUnsupported where it lies in the
  // memory of a device that the host cannot read.
  [[nodiscard]] XTTS_API Result<std::span<const float>> as_floats() const;
  [[nodiscard]] XTTS_API Result<std::span<const std::int32_t>> as_int32s() const;
};

// Immutable. Copies are cheap and share the lease. Columns lie on the reader's device, where they
// may still be on their way; all else is on the host. On the CPU they are there.
class Batch {
 public:
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // Which of ReaderOptions::buckets; 0 without.
  [[nodiscard]] std::uint32_t bucket() const noexcept { return bucket_; }
  // Rows that hold a clip; they come first.
  [[nodiscard]] std::uint32_t valid_count() const noexcept {
    return static_cast<std::uint32_t>(positions_.size());
  }
  [[nodiscard]] std::span<const BatchColumn> columns() const noexcept { return columns_; }
  // Null where the batch has no such column.
  [[nodiscard]] XTTS_API const BatchColumn* find(std::string_view name) const noexcept;
  // Numbers in the cache's tables, by row; -1: unknown, or no clip.
  [[nodiscard]] std::span<const std::int32_t> speakers() const noexcept { return speakers_; }
  [[nodiscard]] std::span<const std::int32_t> languages() const noexcept { return languages_; }
  // Positions in the cache, of the valid rows.
  [[nodiscard]] std::span<const std::uint64_t> positions() const noexcept { return positions_; }

  // Returns when the columns may be read, or why they never can be: kResource.
  [[nodiscard]] XTTS_API Status wait() const;
  // Returns at once: what this stream of the device (its handle, as DLPack has it) is given from
  // now on runs when the columns may be read, and the slot is not filled again before all is done
  // that the stream was given while the batch was held.
  [[nodiscard]] XTTS_API Status let_wait(std::uintptr_t stream) const;

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

// Where a reader stands: plain numbers, to be kept with a model's checkpoint.
struct ReaderState {
  std::uint32_t order_version = 1;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples_consumed = 0;  // of the epoch, by all ranks
  // The same, by bucket; empty without buckets.
  std::vector<std::uint64_t> bucket_samples_consumed;
  std::string cache;      // which generation: the digest of its index
  std::string selection;  // a digest of what is read in which kind of order
};

struct ReaderStats {
  std::uint64_t batch_count = 0;
  std::uint64_t sample_count = 0;
  std::uint64_t bytes = 0;  // of true rows
  std::uint64_t batches_in_place = 0;
  // Samples that were in memory when their rows were filled: neither waited for (told apart by the
  // MiB) nor read past the page cache, nor from files that the system does not map, nor computed.
  std::uint64_t cache_hits = 0;
  // From one next() to the next: mean and deviation over all, the others over the last 8,192.
  double ms_mean = 0, ms_std = 0, ms_p50 = 0, ms_p95 = 0, ms_p99 = 0;
  double consumer_wait_s = 0;        // for batches
  double filler_wait_s = 0;          // for slots, all threads together
  std::uint64_t check_failures = 0;  // damaged clips in what was handed out; failed batches
  std::vector<std::string> first_failures;
  // Clips that OnDamage::kSkip has left out of batches, or that were found to have no record
  // (ClipSource): over all epochs, those among them that were known before an epoch began, once; in
  // the batches of the running epoch; and this rank's samples of an epoch, of which those are a
  // share.
  std::uint64_t left_out_count = 0;
  std::uint64_t epoch_left_out_count = 0;
  std::uint64_t epoch_sample_count = 0;
  std::string notice;   // what the system did not grant, and what would suit the storage better
  std::string storage;  // what the cache lies on, and how much of it was in memory at the start
  std::string reading;  // how it is read, and why
};

class Reader {
 public:
  // kInvalidArgument (an option that cannot be), kNotFound (no such column or clip), kUnsupported
  // (no such device), kResource. `options_bytes` is not for you to give ("Structs that grow",
  // above).
  [[nodiscard]] static XTTS_API Result<Reader> open(
      const Cache& cache, const ReaderOptions& options,
      std::size_t options_bytes = sizeof(ReaderOptions));
  // Batches of clips that are computed now, by the threads that fill the batches: of the same order
  // and bits as a cache of the same data would give, and with the same options, but for those of
  // storage: the shuffle window is kInvalidArgument, and so are `reading`, `verify_records`,
  // `on_damage` and `max_damage` other than by default; Normalize::kCorpus is kUnsupported.
  //
  // Buckets, and a `where` that asks for what the sound tells, compute all clips that may be chosen
  // once, here: for hours perhaps, unless ReaderOptions::cancelled says so (kCancelled). kSourceIo:
  // a clip could not be read then, and may be another time.
  //
  // A clip that is rejected is left out of its batch, and of the epochs that begin after that: of a
  // single rank what follows moves up, of several ranks its batch stays shorter. left_out() names
  // it. kTooManyRejects where the source allows no more: here, or by next(), where the clips are
  // found, or known when an epoch begins.
  [[nodiscard]] static XTTS_API Result<Reader> open(
      std::shared_ptr<const ClipSource> clips, const ReaderOptions& options,
      std::size_t options_bytes = sizeof(ReaderOptions));
  XTTS_API ~Reader();
  // What was moved from is empty: its calls fail with kInvalidArgument, or give nothing.
  XTTS_API Reader(Reader&& other) noexcept;
  XTTS_API Reader& operator=(Reader&& other) noexcept;

  [[nodiscard]] XTTS_API std::uint64_t sample_count() const noexcept;  // of the selection
  // Of an epoch, over all ranks: the draws of weights, or the whole selection.
  [[nodiscard]] XTTS_API std::uint64_t samples_per_epoch() const noexcept;
  // Of each rank, in the whole of this epoch. All epochs have as many, but with buckets and weights
  // together, which draw now more of one bucket, now of another; and of clips that are computed,
  // where a single rank's epoch goes without those that were rejected before it began.
  [[nodiscard]] XTTS_API std::uint64_t batches_per_epoch() const noexcept;
  // Starts this epoch from its beginning. A new reader stands at the beginning of epoch 0.
  XTTS_API void set_epoch(std::uint64_t epoch);
  [[nodiscard]] XTTS_API std::uint64_t epoch() const noexcept;
  // The next batch of this rank; nothing at the epoch's end. kCancelled: interrupt() was called.
  [[nodiscard]] XTTS_API Result<std::optional<Batch>> next();
  // The same, with a time limit: kCancelled where the batch is not there by then. It comes with a
  // later call. The caller does not lend a hand with the filling, so a disk that hangs does not
  // hold it up.
  [[nodiscard]] XTTS_API Result<std::optional<Batch>> next(std::chrono::milliseconds limit);
  // From any thread: the next() that runs, or else the one that comes, ends with kCancelled, and
  // the reader stays where it is. A next() without a time limit ends the part in hand first, a MiB;
  // of clips that are computed it has none in hand.
  XTTS_API void interrupt() noexcept;

  // What was handed out counts as consumed.
  [[nodiscard]] XTTS_API ReaderState state() const;
  // Goes on behind what the state's reader had consumed, also with another batch size or number of
  // ranks. The state's seed takes the place of the reader's. kMismatch: the state is of another
  // generation, selection or kind of order.
  [[nodiscard]] XTTS_API Status load_state(const ReaderState& state);

  // Any thread, also while another is in next().
  [[nodiscard]] XTTS_API ReaderStats stats() const;
  // Likewise: positions of the clips that were left out so far, each once, as they were met: in a
  // batch, or as an epoch began that goes without them.
  [[nodiscard]] XTTS_API std::vector<std::uint64_t> left_out() const;

 private:
  struct Impl;
  using Clock = std::chrono::steady_clock;
  explicit Reader(std::unique_ptr<Impl> impl) noexcept;
  [[nodiscard]] Result<std::optional<Batch>> next_until(std::optional<Clock::time_point> until);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts
