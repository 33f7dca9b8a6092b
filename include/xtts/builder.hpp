// The builder: makes caches, brings them up to date, verifies and mends them. Installed surface of
// libxtts_builder.so, which does what `xtts-precompute build` and `verify` do, by the same code.
//
//   xtts::BuildOptions options = {.data = "./data", .cache = "./cache"};
//   options.settings = {"max_frames=1024"};
//   const auto show = [](const xtts::BuildProgress& progress) { ... };
//   auto report = xtts::build_cache(options, {.progress = show});
//   if (!report.ok()) return tell(report.status());
//
// Values have the same forms and defaults as on the command line, whose --help and README say what
// they mean; an empty text is "not given". Nothing is printed.
//
// Threads: both functions may run in any thread, and several at once on different caches; on one
// cache a second build is kBusy. They return when no thread or process of theirs is left. After a
// fork() the child may build, too, where no thread of the parent was building at that moment.
// Callbacks must not call the builder. One that throws stops the work, as `cancelled` does, and
// what it has thrown is told by kCancelled. A thread that is cancelled (pthread_cancel) is not
// while it is in a call. Where the system gives fewer threads than were asked for, those do the
// work.
//
// Failures, of both: kInvalidArgument, kNotFound (DATA, CACHE, a recipe, the program that decodes),
// kMismatch (another recipe, with the differences), kBusy, kResource (disk, memory, I/O),
// kTooManyRejects, kCancelled (sealed work is kept: the same call goes on), kCorrupt (the published
// cache is damaged), kUnsupported, kInternal. No exception leaves them. Options may grow
// (batch.hpp, "Structs that grow"): the functions' last argument is not for you to give.
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
  // A shipped name, or a YAML file. Empty: "myxtts"; with `config` the one that the trainer trains
  // on.
  std::string recipe = {};
  std::vector<std::string> settings = {};     // KEY=VALUE, laid over the recipe
  std::string config = {};                    // the trainer's config.yaml: its data keys are read
  std::string layout_of_data = {};            // "ljspeech", ...; empty: found out
  std::vector<std::string> audio_roots = {};  // folders outside of DATA that hold audio, too
  std::string language = {};                  // of clips whose list does not say
  std::string speakers_file = {};             // names in the order of their numbers, one a line
  std::string store = {};                     // lmdb, hdf5
  std::string layout = {};                    // padded, packed
  std::string dtype = {};                     // float32, float16, bfloat16
  std::string device = "auto";                // auto, cpu
  std::string isa = "best";                   // best, scalar, avx2, avx512
  std::string memory = {};                    // "512M", "2G"; empty: a quarter of RAM, 2G at most
  std::string max_rejects = "5%";             // so many faulty clips are tolerated; or "100"
  // So much may be missing without being asked: clips or hours (the worse) that rules of the recipe
  // drop, and published clips that have vanished from DATA. Beyond: kTooManyRejects.
  std::string max_dropped = "10%";
  std::string max_gone = "5%";
  std::string partition = {};      // "I/N": only part I of N (from 1), for `merge` to join
  std::uint32_t thread_count = 0;  // 0: all processors
  bool no_text = false;  // the sound alone; lists that cannot be read are no reason to stop then
  bool retry_rejects = false;
  bool overwrite = false;  // begin anew; what is published stays until the end
  // With overwrite: only the generation with this digest (Cache::digest()). Another one, which
  // somebody published since, is brought up to date: of several who find one cache, one replaces
  // it.
  std::string overwrite_only = {};
  bool allow_mixed = false;  // add to a cache that another CPU or library version made
  bool dry_run = false;      // stop after `before`
  // The program xtts-decode, whose processes decode: a codec's crash costs one clip. Empty: the one
  // that was installed with this library.
  std::string program = {};
};

// What is known before anything is decoded but a small sample.
struct BuildPreview {
  std::string layout = {};
  std::uint64_t clip_count = 0;
  std::uint64_t to_compute_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;  // in the cache, but not in DATA any more
  std::uint64_t source_bytes = 0;
  // Of the clips to compute; unset where there was nothing to sample.
  std::optional<double> sound_seconds = {};
  std::optional<double> build_seconds = {};
  std::uint64_t size_bytes = 0;  // of the cache, as it is to be stored
  std::uint64_t free_bytes = 0;
  std::string json = {};  // all that `build --dry-run --json` prints
};

struct BuildProgress {
  std::uint64_t done_count = 0;  // clips, rejected ones and an earlier run's included
  std::uint64_t total_count = 0;
  std::uint64_t reject_count = 0;
  double clips_per_s = 0.0;
  double realtime_factor = 0.0;  // seconds of sound a second
  double bytes_per_s = 0.0;      // of sources
  std::optional<double> seconds_left = {};
};

struct BuildCallbacks {
  // What a person should know, a line each. On the calling thread, as `before` is.
  std::function<void(const std::string& text)> notice = {};
  // Once, before the first clip. Costs the decoding of a sample, and is left out without.
  std::function<void(const BuildPreview& preview)> before = {};
  // After each clip, on whichever thread commits it, one call at a time: should be quick.
  std::function<void(const BuildProgress& progress)> progress = {};
  // Asked often, from any thread. Once true, what is in hand is finished.
  std::function<bool()> cancelled = {};
};

struct RejectedClip {
  std::string kind = {};    // policy, input, crash, environment
  std::string stage = {};   // list, discover, text, read, decode, condition, features
  std::string id = {};      // empty where none could be read
  std::string place = {};   // "metadata.csv:12", or a path relative to DATA
  std::string reason = {};  // in words
  std::string rule = {};    // "too_long": what programs go by
  std::map<std::string, double> numbers = {};  // the rule's: {"frames": 1034, "max_frames": 800}
  // What the rule is about, where it is more than numbers: a column, the id of the first of two
  // equal clips, what a library or a list's reader says.
  std::string about = {};
};

struct BuildReport {
  bool unchanged = false;  // nothing was published: the cache already says all of this
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
  std::uint64_t renamed_count = 0;  // in the cache by another id before: copied, not decoded
  double sound_seconds = 0.0;       // in the cache now
  std::uint64_t cache_bytes = 0;
  std::map<std::string, std::uint64_t> records_by_split = {};
  std::uint64_t speaker_count = 0;
  std::uint64_t cut_count = 0;                          // stored, but cut to max_frames
  std::uint64_t cut_text_count = 0;                     // stored, but tokens cut to max_tokens
  std::uint64_t warned_count = 0;                       // stored, but with warnings
  std::optional<std::uint32_t> max_frames_needed = {};  // would drop or cut nothing
  double elapsed_s = 0.0;
  std::vector<RejectedClip> rejects = {};  // as CACHE/rejects.jsonl has them
  std::string json = {};                   // all that `build --json` prints
};

// With dry_run the report is empty: `before` has said it all.
[[nodiscard]] XTTS_API Result<BuildReport> build_cache(
    const BuildOptions& options, const BuildCallbacks& callbacks = {},
    std::size_t options_bytes = sizeof(BuildOptions));

struct VerifyOptions {
  std::string cache = {};
  std::string level =
      "full";             // quick: manifest, sizes, plan; full: every byte; deep: computed again
  std::string data = {};  // deep, repair: DATA; empty: where the last build found it
  // deep, repair: BuildOptions::audio_roots, in that order; empty: those of the last build
  std::vector<std::string> audio_roots = {};
  std::string sample = "100%";     // deep: so many of the clips, by a seeded hash
  std::string seed = "0";          // deep: of the sample
  std::string isa = "best";        // deep, repair
  std::uint32_t thread_count = 0;  // 0: all processors
  bool repair = false;             // make again what is damaged, byte for byte, and nothing else
  std::string program = {};        // as BuildOptions::program
  // repair: the name of the index that a lost manifest is made again from, where several are there
  // and which is the newest cannot be proved.
  std::string index = {};
  // repair: clips whose records are lost and that no source makes again may be left out, up to this
  // share of all ("5%"); without it none is.
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
  bool is_note = false;   // nothing is lost, and nothing that a reader uses is wrong
  std::string file = {};  // relative to the cache
  std::optional<std::uint64_t> offset_bytes = {};
  std::string clip = {};  // full id, where one is hit
  std::string column = {};
  std::string what = {};  // "record", "block header", "missing file", ...
  std::string expected = {};
  std::string found = {};
  // What programs go by:
  std::string check = {};    // "block_header"
  std::string outcome = {};  // wrong, unreadable, not_mended
  std::string part = {};     // of what was recomputed: "length", the name of a fact
  std::string cure = {};     // what helps against this finding alone: "repair", "build", ...
};

struct MendedFile {
  std::string file = {};
  std::string what = {};               // was done to it
  std::uint64_t recomputed_count = 0;  // records that were computed again for it
};

struct VerifyReport {
  bool ok = true;                            // no damage, or none that is left
  std::vector<VerifyFinding> findings = {};  // by file and offset; a thousand at most
  std::uint64_t finding_count = 0;           // all of them
  std::vector<MendedFile> repaired = {};     // what was found in them is no finding any more
  std::uint64_t shard_count = 0;
  std::uint64_t record_count = 0;
  std::uint64_t bytes_checked = 0;
  std::string json = {};  // all that `verify --json` prints
  // The cheapest step that helps, as a command; empty: nothing is to be done. And what to know
  // before it.
  std::string remedy = {};
  std::string remedy_note = {};
  std::uint64_t clip_count = 0;  // as the manifest has it; each has a record in most columns
};

// Damage is no failure of verify_cache(): it is in the report.
[[nodiscard]] XTTS_API Result<VerifyReport> verify_cache(
    const VerifyOptions& options, const VerifyCallbacks& callbacks = {},
    std::size_t options_bytes = sizeof(VerifyOptions));

}  // namespace xtts
