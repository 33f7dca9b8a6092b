// verify: is every byte as it was written? quick checks manifest, sizes and plan. full hashes
// every byte once. deep is full, and then computes records again from their sources (deep.hpp).
//
// Reads use Env (pread), so a damaged or shrinking file is a finding and never a signal. `full`
// works on `threads` shards at once, with a buffer of 512 KiB each (or one record, if that is
// more). The function itself fails only if it cannot begin, or if the sources as a whole are not
// available. Damage is in the report.
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

// kNote means that nothing is lost and that no reader uses a wrong byte; the report stays ok.
enum class Weight : std::uint8_t { kDamage, kNote };

struct Finding {
  Weight weight = Weight::kDamage;
  std::string file = {};  // relative to the cache
  std::optional<std::uint64_t> offset_bytes = {};
  std::string clip = {};  // full id, if one is affected
  std::string column = {};
  Check check = Check::kRecord;
  Outcome outcome = Outcome::kWrong;
  std::string part = {};  // checked part: "length", "split", the name of a fact
  Evidence expected = {};
  Evidence found = {};
  RemedyKind remedy = RemedyKind::kRepair;
  // True if a check reported it. Otherwise every check is right, and repair cannot prove the right
  // value.
  bool is_of_checks = true;
};

struct RepairedFile {
  std::string file = {};
  Evidence done = {};
  Evidence why = {};                   // reason for leaving a clip out
  std::uint64_t recomputed_count = 0;  // records that were computed again for it
};

// The next step after the findings: the cheapest that helps.
struct Remedy {
  RemedyKind kind = RemedyKind::kRepair;
  std::string cache = {};
  bool is_after_repair = false;
  // Where the sources are: an empty path is not known, and the next command has to name the roots.
  formats::DataFolders data = {};
  std::string data_before = {};   // where the last build found them
  std::string partition = {};     // "2/8": the cache is a part
  bool is_recipe_lost = false;    // with the manifest
  bool is_other_machine = false;  // its numerics are not the cache's
  // The limits that a build has to allow: the losses of the last one, and clips of the cache that
  // DATA no longer has.
  std::string limits = {};  // " --max-rejects 12"
  double gone_share = 0.0;
  std::string index = {};             // kChooseIndex: the likeliest
  std::string column = {};            // kAddColumn
  std::uint64_t lost_clip_count = 0;  // kLeaveOut, of
  std::uint64_t clip_count = 0;
};

// The way in which deep compared records with those that it made again.
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
  std::optional<Remedy> remedy = {};  // unset: nothing is to be done
  Level level = Level::kFull;
  std::uint64_t shard_count = 0;
  std::uint64_t clip_count = 0;    // as the manifest has it; 0 where it cannot be read
  std::uint64_t record_count = 0;  // quick: as the manifest has it; else those checked
  bool has_sources = true;         // sources.bin: without it the next build hashes all sources
  std::uint64_t bytes_checked = 0;
  double seconds = 0.0;
  std::vector<Finding> findings;  // by file and offset; at most findings_max, the count goes on
  std::uint64_t finding_count = 0;
  std::vector<RepairedFile> repaired;  // with `repair`; their findings are gone
  // deep:
  DeepComparison comparison = {};  // clips whose records were computed again
  std::uint64_t sampled_of = 0;    // clips that the cache has
};

struct Options {
  Level level = Level::kFull;
  std::uint32_t thread_count = 1;
  std::uint64_t findings_max = 1000;
  bool repair = false;  // full and deep: mend what is found (repair.hpp)
  // repair: the index from which a lost manifest is made again, if a finding asks for it.
  std::string index = {};
  // repair: this share of the clips may be left out if their records cannot be made again.
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
