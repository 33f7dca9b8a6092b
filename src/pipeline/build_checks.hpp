// The checks that refuse a build before it computes or publishes: a wrong folder, another recipe or
// other numerics than the published cache's, too many rejects. Each message says what to do next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "dsp/isa.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "pipeline/limits.hpp"

namespace xtts::pipeline {

struct BuildPlan;
struct BuildRequest;

// kInvalidArgument if a tone at full scale is beyond the storage's dtype.
[[nodiscard]] Status check_dtype_holds_full_scale(const formats::Recipe& recipe, dsp::Isa isa);

[[nodiscard]] Status check_data_folder(Env& env, const std::string& data);
// Protects a folder of other things: a typing mistake must not make it a cache.
[[nodiscard]] Status check_folders(Env& env, const std::string& data, const std::string& cache);

// Refuses to add to a cache whose records `convert --bake` has normalized: a build makes no such
// records.
[[nodiscard]] Status check_not_baked(const formats::Manifest* published,
                                     const formats::Recipe& recipe);

// Features and storage must be the published ones; kMismatch names each difference.
[[nodiscard]] Status check_same_recipe(const formats::Manifest& published,
                                       const BuildRequest& request);

// Records of two processors or library versions do not mix in one cache unless the caller allows
// it.
[[nodiscard]] Status check_same_numerics(const formats::Numerics& published,
                                         const formats::Numerics& now,
                                         std::uint64_t to_compute_count);

// The DATA of another corpus would empty the cache: kMismatch if DATA holds no published clip.
[[nodiscard]] Status check_same_corpus(std::uint64_t published_count, std::uint64_t gone_count);

// A part is built in one run and then merged. It does not mix with a whole cache or another part.
// `published` may be null.
[[nodiscard]] Status check_partition(const BuildRequest& request,
                                     const formats::Manifest* published);
[[nodiscard]] Status check_same_clips(const formats::Partition& published, const Digest& all_clips);

// Counts the clips at fault: those that no rule of the recipe has dropped.
[[nodiscard]] std::uint64_t fault_count(const std::vector<formats::Reject>& rejects);
// The number of considered clips that may be at fault.
[[nodiscard]] std::uint64_t allowed_faults(const RejectLimit& limit,
                                           std::uint64_t considered_count) noexcept;

// kMismatch if the tokens column comes or goes while there are added columns: their shards hold the
// column's number, which follows the numbers of the columns that a build makes.
[[nodiscard]] Status check_added_columns(const formats::Manifest& published, bool has_tokens);

// The clips of which a share may be faulty: those of the plan, and those that lists name in vain.
[[nodiscard]] std::uint64_t considered_clip_count(const BuildPlan& plan) noexcept;

// kTooManyRejects if more clips are faulty than the limit allows, before any is decoded.
[[nodiscard]] Status check_known_rejects(const BuildPlan& plan, const RejectLimit& limit);
// The same by numbers alone; `examples`: some of the rejects, or all.
[[nodiscard]] Status check_known_faults(std::uint64_t faults, std::uint64_t considered_count,
                                        const RejectLimit& limit,
                                        const std::vector<formats::Reject>& examples);

// kTooManyRejects if more clips failed than the limit allows. Policy drops are no faults.
[[nodiscard]] Status check_rejects(const std::vector<formats::Reject>& rejects,
                                   const RejectLimit& limit, std::uint64_t considered_count);
// kTooManyRejects if none is left to store.
[[nodiscard]] Status check_any_clip(const std::vector<formats::Reject>& rejects,
                                    std::uint64_t stored_count);

}  // namespace xtts::pipeline
