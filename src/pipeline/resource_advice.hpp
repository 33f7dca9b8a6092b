// The advice for a person when a build ends for lack of a resource: how many bytes it still needs,
// how many are free, and what to do. Reads names and sizes of files; changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"

namespace xtts::pipeline {

struct BuildPreview;
struct BuildRequest;
struct BuildPlan;

// The free bytes of the cache's file system. If there is no cache yet, its nearest ancestor counts.
[[nodiscard]] Result<std::uint64_t> free_bytes_for(Env& env, const std::string& cache);

// Estimates how many bytes the build will still write, without what it has sealed. `published`: the
// manifest before the build, or null. `preview` may hold an estimate of the mels. If it does not
// and their size depends on it, a few clips are decoded, unless the largest possible size is free.
[[nodiscard]] std::uint64_t bytes_left_to_write(Env& env, const BuildPlan& plan,
                                                const BuildRequest& request,
                                                const BuildPreview& preview,
                                                const formats::Manifest* published,
                                                std::uint64_t free_bytes);

// Returns `failure` and, if too little space is free, what to do. `needed_bytes` is unset while
// there is no plan.
[[nodiscard]] Status advise_on_space(const Status& failure,
                                     std::optional<std::uint64_t> needed_bytes,
                                     std::uint64_t free_bytes);
// Returns a `failure` to take hold of CACHE, and what to do.
[[nodiscard]] Status advise_on_writing(const Status& failure);

}  // namespace xtts::pipeline
