// What a build refuses before it computes or publishes: a wrong folder, another recipe or other
// numerics than the published cache's, too many rejects. Each message says what to do next.
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

struct BuildRequest;

// kInvalidArgument where a tone at full scale is beyond the storage's dtype.
[[nodiscard]] Status check_dtype_holds_full_scale(const formats::Recipe& recipe, dsp::Isa isa);

[[nodiscard]] Status check_data_folder(Env& env, const std::string& data);
// Somebody's folder of other things must not become a cache by a slip of the keyboard.
[[nodiscard]] Status check_folders(Env& env, const std::string& data, const std::string& cache);

// Nothing is added to a cache whose records `convert --bake` has normalized: a build makes none.
[[nodiscard]] Status check_not_baked(const formats::Manifest* published,
                                     const formats::Recipe& recipe);

// Features and storage must be the published ones; kMismatch names each difference.
[[nodiscard]] Status check_same_recipe(const formats::Manifest& published,
                                       const formats::Recipe& recipe);

// Records of two processors or library versions do not meet in one cache unless somebody wants it.
[[nodiscard]] Status check_same_numerics(const formats::Numerics& published,
                                         const formats::Numerics& now,
                                         std::uint64_t to_compute_count);

// Another corpus' DATA would empty the cache: kMismatch where no published clip is in it.
[[nodiscard]] Status check_same_corpus(std::uint64_t published_count, std::uint64_t gone_count);

// A part is built in one go and then merged; whole caches and other parts are not mixed with it.
// `published` may be null.
[[nodiscard]] Status check_partition(const BuildRequest& request,
                                     const formats::Manifest* published);
[[nodiscard]] Status check_same_clips(const formats::Partition& published, const Digest& all_clips);

// So many of the clips that were considered may be at fault.
[[nodiscard]] std::uint64_t allowed_faults(const RejectLimit& limit,
                                           std::uint64_t considered_count) noexcept;

// The numbers of added columns stand in their shards, behind those of the columns that a build
// makes.
[[nodiscard]] Status check_added_columns(const formats::Manifest& published, bool has_tokens);

// kTooManyRejects where more clips failed than the limit allows, or where none is left to store
// (a part may be empty: no `stored_count`). Policy drops are no faults.
[[nodiscard]] Status check_rejects(const std::vector<formats::Reject>& rejects,
                                   const RejectLimit& limit, std::uint64_t considered_count,
                                   std::optional<std::uint64_t> stored_count);

}  // namespace xtts::pipeline
