// Accounts for every clip that DATA names or the published cache holds, and limits what a build may
// lose without permission: policy drops and clips that are gone. build_checks.hpp has the limit of
// faults. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "pipeline/drop_rules.hpp"
#include "pipeline/limits.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {
class CacheView;
}

namespace xtts::pipeline {

struct BuildPlan;

// Counts every clip once. found = stored + dropped + rejected; stored = reused + changed + renamed
// + added; before = reused + changed + renamed + lost + gone.
struct Accounting {
  std::uint64_t found = 0;     // clips that DATA names, and lines that name none
  std::uint64_t stored = 0;    // in the cache now
  std::uint64_t dropped = 0;   // by a rule of the recipe
  std::uint64_t rejected = 0;  // at fault
  std::map<std::string, std::uint64_t> dropped_by_rule;    // "too_long"
  std::map<std::string, std::uint64_t> rejected_by_class;  // "input"; "policy": not a clip

  std::uint64_t reused = 0;   // the record stays
  std::uint64_t changed = 0;  // its source changed, so it was computed again
  std::uint64_t renamed = 0;  // the cache had it by another id: its record was copied
  std::uint64_t added = 0;    // new

  std::uint64_t before = 0;  // in the published cache
  std::uint64_t lost = 0;    // clips of `before` that are dropped or rejected now
  std::uint64_t gone = 0;    // clips of `before` that are no longer chosen from DATA
  friend bool operator==(const Accounting&, const Accounting&) = default;
};

// Shares are sums of doubles. With this tolerance a limit of 10 % allows one clip of ten.
inline constexpr double kShareTolerance = 1e-9;

// The lowest limit with one decimal that allows `share`, such as "41.7%".
[[nodiscard]] std::string limit_that_allows(double share);

// Counts the clips that DATA names, and the lines that name none.
[[nodiscard]] std::uint64_t found_count(const BuildPlan& plan);

// `rejects`: all of the build's. `previous` may be null.
[[nodiscard]] Result<Accounting> account_for(const BuildPlan& plan,
                                             const std::vector<formats::Reject>& rejects,
                                             reader::CacheView* previous);

// How much of the corpus its rules drop, from 0 to 1: the share of clips, or of hours if these are
// known (`stored_seconds`), whichever is larger. A dropped clip whose reason states no length
// counts as long as a stored clip.
struct DroppedShare {
  double of_clips = 0.0;
  std::optional<double> of_hours;
  [[nodiscard]] double worse() const noexcept;
};
[[nodiscard]] DroppedShare dropped_share(const std::vector<formats::Reject>& rejects,
                                         const formats::FeatureConfig& features,
                                         std::uint64_t found_count, std::uint64_t stored_count,
                                         std::optional<double> stored_seconds);

// Says when the loss is known: before anything is computed, or after everything is.
enum class LossKnown : std::uint8_t { kBefore, kAfter };

// " --max-rejects 12": the limits that a build of an unchanged DATA has to name, since it meets the
// losses of the last one again. Reads rejects.jsonl. Failures: none.
[[nodiscard]] std::string limits_of_last_build(Env& env, const std::string& cache,
                                               const formats::Manifest& published);

// kTooManyRejects if more is dropped than the limit allows; the message has each rule's remedy.
[[nodiscard]] Status check_dropped(const std::vector<formats::Reject>& rejects,
                                   const formats::Recipe& recipe, const LossLimits& limits,
                                   std::uint64_t found_count, std::uint64_t stored_count,
                                   std::optional<double> stored_seconds, LossKnown known);

// Checks what the plan alone drops.
[[nodiscard]] Status check_known_drops(const BuildPlan& plan, const formats::Recipe& recipe,
                                       const LossLimits& limits);

// kTooManyRejects if more of the published clips have vanished than the limit allows.
[[nodiscard]] Status check_gone(const BuildPlan& plan, std::uint64_t published_count,
                                const LossLimits& limits);

}  // namespace xtts::pipeline
