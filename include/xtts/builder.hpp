// The builder makes, updates, verifies and repairs caches. Part of libxtts_builder.so. The
// commands `xtts-precompute build` and `verify` run the same code.
//
//   xtts::BuildOptions options = {.data = "./data", .cache = "./cache"};
//   options.settings = {"max_frames=1024"};
//   const auto show = [](const xtts::BuildProgress& progress) { ... };
//   auto report = xtts::build_cache(options, {.progress = show});
//   if (!report.ok()) return tell(report.status());
//
// Values have the same forms and defaults as on the command line; its --help and README explain
// them. An empty text means "not given". The library prints nothing.
//
// Threads: both functions may run in any thread, and several at once on different caches. A second
// build of one cache gives kBusy. When a function returns, none of its threads and processes is
// left. After a fork() the child may build too, if no thread of the parent was building at that
// moment. If the system grants fewer threads than asked for, the builder works with those. A call
// defers the cancellation of its thread (pthread_cancel) until it returns.
//
// Callbacks must not call the builder. A callback that throws stops the work as `cancelled` does,
// and the message of kCancelled tells what it threw.
//
// Failures of both functions: kInvalidArgument, kNotFound (DATA, CACHE, a recipe, the decoder
// program), kMismatch (another recipe; the message lists the differences), kBusy, kResource (disk,
// memory, I/O), kTooManyRejects, kCancelled (sealed work is kept: the same call continues it),
// kCorrupt (the published cache is damaged), kUnsupported, kInternal. No exception leaves them.
// Options may grow (batch.hpp, "Structs that grow"): leave the last argument at its default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

struct BuildOptions {
  std::string data = {};   // a corpus, any folder of audio, or a corpora.yaml
  std::string cache = {};  // the cache's folder
  // A shipped recipe's name, or a YAML file. Empty: with `config`, the trainer's recipe; else that
  // of the cache, where one is there, with `overwrite`, too; else "myxtts".
  std::string recipe = {};
  std::vector<std::string> settings = {};  // KEY=VALUE, override the recipe
  std::string config = {};                 // the trainer's config.yaml: its data keys are read
  std::string layout_of_data = {};         // "ljspeech", ...; empty: detected
  // Folders outside of DATA that hold audio, too. Empty: those of the last build.
  std::vector<std::string> audio_roots = {};
  std::string language = {};       // of clips whose list names none
  std::string speakers_file = {};  // names in the order of their numbers, one per line
  std::string store = {};          // lmdb, hdf5
  std::string layout = {};         // padded, packed
  std::string dtype = {};          // float32, float16, bfloat16
  std::string device = "auto";     // auto, cpu, cuda, cuda:1
  std::string isa = "best";        // best (of a cache that is there: its own), scalar, avx2, avx512
  std::string memory = {};         // "512M", "2G"; empty: a quarter of RAM, 2G at most
  std::string max_rejects = "5%";  // tolerated faulty clips: a share, or a number ("100")
  // Losses accepted without asking. max_dropped: what rules of the recipe drop, in clips or hours
  // (the worse). max_gone: published clips that have vanished from DATA. Beyond: kTooManyRejects.
  std::string max_dropped = "10%";
  std::string max_gone = "5%";
  std::string partition = {};      // "I/N": only part I of N (from 1); `merge` joins them
  std::uint32_t thread_count = 0;  // 0: all processors
  bool no_text = false;            // sound only; then an unreadable list does not stop the build
  bool retry_rejects = false;
  bool overwrite = false;  // start anew; the published cache stays until the end
  // With overwrite: replaces only the generation with this digest (Cache::digest()). A generation
  // that somebody published since is updated instead. So if several programs find one old cache,
  // only one replaces it.
  std::string overwrite_only = {};
  bool allow_mixed = false;  // allows adding to a cache that another CPU or library version made
  bool dry_run = false;      // stop after `before`
  // The program xtts-decode, which decodes in its own processes, so that a codec's crash costs one
  // clip. Empty: the one installed with this library.
  std::string program = {};
  // Gives up the unfinished build of another recipe, or the unfinished column, that lies there.
  bool discard_unfinished = false;
  // Builds this part of a plan: "PLAN/0007", a file that `xtts-precompute plan` made. The plan has
  // recipe, speakers and clips. `data` is empty, or where DATA is on this machine.
  std::string part = {};
};

// The plan of a build, known before anything but a small sample is decoded.
struct BuildPreview {
  std::string layout = {};
  std::uint64_t clip_count = 0;
  std::uint64_t to_compute_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;  // in the cache, but not in DATA any more
  std::uint64_t source_bytes = 0;
  // Estimates for the clips to compute; unset where there was nothing to sample.
  std::optional<double> sound_seconds = {};
  std::optional<double> build_seconds = {};
  std::uint64_t size_bytes = 0;  // of the finished cache
  std::uint64_t free_bytes = 0;
  std::string json = {};  // the output of `build --dry-run --json`
};

struct BuildProgress {
  std::uint64_t done_count = 0;  // clips; includes rejected ones and an earlier run's
  std::uint64_t total_count = 0;
  std::uint64_t reject_count = 0;
  double clips_per_s = 0.0;
  double realtime_factor = 0.0;  // seconds of sound per second
  double bytes_per_s = 0.0;      // of sources
  std::optional<double> seconds_left = {};
};

struct BuildCallbacks {
  // Messages for a person, one line each. `notice` and `before` run on the calling thread.
  std::function<void(const std::string& text)> notice = {};
  // Called once, before the first clip. If set, the builder decodes a sample for it.
  std::function<void(const BuildPreview& preview)> before = {};
  // Called after each clip, on the thread that commits it, one call at a time. It should be quick.
  std::function<void(const BuildProgress& progress)> progress = {};
  // Called often, from any thread. Once true, the builder finishes what it has begun and stops.
  std::function<bool()> cancelled = {};
};

struct RejectedClip {
  std::string kind = {};    // policy, input, crash, environment
  std::string stage = {};   // list, discover, text, read, decode, condition, features
  std::string id = {};      // empty: no id could be read
  std::string place = {};   // "metadata.csv:12", or a path relative to DATA
  std::string reason = {};  // in words
  std::string rule = {};    // for programs: "too_long"
  std::map<std::string, double> numbers = {};  // the rule's: {"frames": 1034, "max_frames": 800}
  // The subject of the rule, if numbers do not tell it: a column, the id of the first of two equal
  // clips, the message of a library or of a list's reader.
  std::string about = {};
};

struct BuildReport {
  bool unchanged = false;  // nothing was published: the cache is up to date
  std::uint64_t generation = 0;
  std::uint64_t clip_count = 0;    // planned
  std::uint64_t record_count = 0;  // in the cache now
  std::uint64_t computed_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;
  // Every clip that DATA names is stored, dropped by a rule of the recipe, or rejected for a fault:
  // found_count = record_count + dropped_count + rejected_count; all 0 where unchanged.
  std::uint64_t found_count = 0;
  std::uint64_t dropped_count = 0;
  std::uint64_t rejected_count = 0;
  std::uint64_t renamed_count = 0;  // were in the cache under another id: copied, not decoded
  double sound_seconds = 0.0;       // in the cache now
  std::uint64_t cache_bytes = 0;
  std::map<std::string, std::uint64_t> records_by_split = {};
  std::uint64_t speaker_count = 0;
  std::uint64_t cut_count = 0;                          // stored, but cut to max_frames
  std::uint64_t cut_text_count = 0;                     // stored, but tokens cut to max_tokens
  std::uint64_t warned_count = 0;                       // stored, but with warnings
  std::optional<std::uint32_t> max_frames_needed = {};  // to drop or cut nothing
  double elapsed_s = 0.0;
  std::vector<RejectedClip> rejects = {};  // as in CACHE/rejects.jsonl
  std::string json = {};                   // the output of `build --json`
};

// With dry_run the report is empty; `before` receives the plan.
[[nodiscard]] XTTS_API Result<BuildReport> build_cache(
    const BuildOptions& options, const BuildCallbacks& callbacks = {},
    std::size_t options_bytes = sizeof(BuildOptions));

struct VerifyOptions {
  std::string cache = {};
  // quick: manifest, sizes, plan; full: every byte; deep: computes clips again
  std::string level = "full";
  std::string data = {};  // deep, repair: DATA; empty: where the last build found it
  // deep, repair: BuildOptions::audio_roots, in the same order; empty: those of the last build
  std::vector<std::string> audio_roots = {};
  std::string sample = "100%";     // deep: the share of clips to check, chosen by a seeded hash
  std::string seed = "0";          // deep: of the sample
  std::string isa = "best";        // deep, repair
  std::uint32_t thread_count = 0;  // 0: all processors
  bool repair = false;             // rebuild the damaged parts byte for byte, and nothing else
  std::string program = {};        // as BuildOptions::program
  // repair: the name of the index from which a lost manifest is rebuilt. Needed where several
  // exist and it cannot be proved which is the newest.
  std::string index = {};
  // repair: the share of clips ("5%") that may be left out because their records are lost and no
  // source can restore them. "0%": none.
  std::string max_gone = "0%";
};

enum class VerifyStage : std::uint8_t {
  kCheck,      // bytes
  kRecompute,  // clips
  kRepair,     // shards
};

struct VerifyProgress {
  VerifyStage stage = VerifyStage::kCheck;
  std::uint64_t done = 0;  // in the stage's unit
  std::uint64_t total = 0;
  double per_second = 0.0;
  std::optional<double> seconds_left = {};
};

struct VerifyCallbacks {
  std::function<void(const std::string& text)> notice = {};
  std::function<void(const VerifyProgress& progress)> progress = {};  // one call at a time
  std::function<bool()> cancelled = {};                               // from any thread
};

struct VerifyFinding {
  bool is_note = false;   // only a note: no data is lost, and readers are not affected
  std::string file = {};  // relative to the cache
  std::optional<std::uint64_t> offset_bytes = {};
  std::string clip = {};  // full id, if the finding concerns one clip
  std::string column = {};
  std::string what = {};  // "record", "block header", "missing file", ...
  std::string expected = {};
  std::string found = {};
  // For programs:
  std::string check = {};    // "block_header"
  std::string outcome = {};  // wrong, unreadable, not_mended
  std::string part = {};     // the recomputed part: "length", the name of a fact
  std::string cure = {};     // the remedy for this finding alone: "repair", "build", ...
};

struct MendedFile {
  std::string file = {};
  std::string what = {};               // the repair
  std::uint64_t recomputed_count = 0;  // records recomputed for it
};

struct VerifyReport {
  bool ok = true;                            // no damage was found, or all of it was repaired
  std::vector<VerifyFinding> findings = {};  // by file and offset; a thousand at most
  std::uint64_t finding_count = 0;           // all of them
  std::vector<MendedFile> repaired = {};     // their findings are no longer listed
  std::uint64_t shard_count = 0;
  std::uint64_t record_count = 0;
  std::uint64_t bytes_checked = 0;
  std::string json = {};  // the output of `verify --json`
  // The cheapest remedy, as a command, and a note to read before it. Empty: nothing to do.
  std::string remedy = {};
  std::string remedy_note = {};
  std::uint64_t clip_count = 0;  // from the manifest; each clip has a record in most columns
};

// Damage is not a failure of verify_cache(): the report lists it.
[[nodiscard]] XTTS_API Result<VerifyReport> verify_cache(
    const VerifyOptions& options, const VerifyCallbacks& callbacks = {},
    std::size_t options_bytes = sizeof(VerifyOptions));

}  // namespace xtts
