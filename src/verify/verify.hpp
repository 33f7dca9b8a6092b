// verify: is every byte what was written? quick: manifest, sizes, plan; full: every byte, each
// hashed once; deep: full, and then records computed again from their sources (deep.hpp).
//
// Reads through Env (pread), so a damaged or shrinking file is a finding and never a signal. `full`
// works on `threads` shards at once with 512 KiB of buffer each (or one record, where that is
// more). The function itself fails only where it cannot begin, or where the sources as a whole
// cannot be had; damage is in the report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "verify/checks.hpp"
#include "verify/evidence.hpp"
#include "verify/sources.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

enum class Level : std::uint8_t { kQuick, kFull, kDeep };

// kNote: nothing is lost and nothing that a reader uses is wrong; the report stays ok.
enum class Weight : std::uint8_t { kDamage, kNote };

struct Finding {
  Weight weight = Weight::kDamage;
  std::string file = {};  // relative to the cache
  std::optional<std::uint64_t> offset_bytes = {};
  std::string clip = {};  // full id, where one is hit
  std::string column = {};
  Check check = Check::kRecord;
  Outcome outcome = Outcome::kWrong;
  std::string part = {};  // of what the check looks at: "length", "split", the name of a fact
  Evidence expected = {};
  Evidence found = {};
  Cure cure = Cure::kRepair;
  // Told by a check; otherwise every check is right, and repair cannot prove what would be.
  bool is_of_checks = true;
};

struct Mended {
  std::string file = {};
  Evidence done = {};
  Evidence why = {};                   // of a clip that was left out
  std::uint64_t recomputed_count = 0;  // records that were computed again for it
};

// What to do next about all that was found: the cheapest step that helps.
struct Remedy {
  Cure cure = Cure::kRepair;
  std::string cache = {};
  bool is_after_repair = false;
  std::string data = {};              // where the sources are; empty: not known
  std::string data_before = {};       // where the last build found them
  std::string index = {};             // kChooseIndex: the likeliest
  std::string column = {};            // kAddColumn
  std::uint64_t lost_clip_count = 0;  // kLeaveOut, of
  std::uint64_t clip_count = 0;
};

// How deep compared records with those that it made again.
struct DeepComparison {
  std::uint64_t exact_count = 0;     // bit for bit
  std::uint64_t tolerant_count = 0;  // within `tolerance`, because numerics differ
  double tolerance = 0.0;
  std::optional<formats::Numerics> cache = {};  // nothing: not those of the manifest
  formats::Numerics here = {};

  [[nodiscard]] std::uint64_t count() const { return exact_count + tolerant_count; }
};

struct Report {
  bool ok = true;                     // no damage found
  std::optional<Remedy> remedy = {};  // nothing: nothing is to be done
  Level level = Level::kFull;
  std::uint64_t shard_count = 0;
  std::uint64_t clip_count = 0;    // as the manifest has it; 0 where it cannot be read
  std::uint64_t record_count = 0;  // quick: as the manifest has it; else those that were looked at
  bool has_sources = true;         // sources.bin: without it the next build hashes all sources
  std::uint64_t bytes_checked = 0;
  double seconds = 0.0;
  std::vector<Finding> findings;  // by file and offset; at most findings_max, the count goes on
  std::uint64_t finding_count = 0;
  std::vector<Mended> repaired;  // with `repair`; what was found in them is no finding any more
  // deep:
  DeepComparison comparison = {};  // of the clips whose records were computed again
  std::uint64_t sampled_of = 0;    // clips that the cache has
};

struct Options {
  Level level = Level::kFull;
  std::uint32_t thread_count = 1;
  std::uint64_t findings_max = 1000;
  bool repair = false;  // full and deep: mend what is found (repair.hpp)
  // repair: the index that a lost manifest is made again from, where it is asked for.
  std::string index = {};
  // repair: this share of the clips may be left out, where nothing makes their records again.
  double max_gone = 0.0;
  Sources sources = {};  // deep, repair
  Sample sample = {};    // deep
  std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_total)> progress =
      {};  // called from any thread
  std::function<void(std::uint64_t clips_done, std::uint64_t clips_total)> recompute_progress =
      {};  // so is this one
  std::function<void(std::uint64_t shards_done, std::uint64_t shards_total)> repair_progress = {};
  std::function<bool()> cancelled = {};
  std::function<void(const std::string& text)> notice = {};  // repair: BuildObserver::notice
};

[[nodiscard]] Result<Report> verify_cache(Env& env, const std::string& cache,
                                          const Options& options);

}  // namespace xtts::verify
