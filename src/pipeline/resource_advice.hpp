// What a person is told when a build ends for want of a resource: how many bytes it still needs,
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
struct Plan;

// Of the cache's file system; where the cache is not there yet, of its nearest ancestor's.
[[nodiscard]] Result<std::uint64_t> free_bytes_for(Env& env, const std::string& cache);

// About how many bytes the build will still write; what it has sealed is left out. `published`:
// what the cache held before, or null. `preview` may hold an estimate of the mels; where it does
// not and their size depends on it, a few clips are decoded, unless the largest that it can be is
// free.
[[nodiscard]] std::uint64_t bytes_left_to_write(Env& env, const Plan& plan,
                                                const BuildRequest& request,
                                                const BuildPreview& preview,
                                                const formats::Manifest* published,
                                                std::uint64_t free_bytes);

// `failure` with what to do behind it, where too little is free. `needed_bytes`: unset while
// nothing is planned.
[[nodiscard]] Status advise_on_space(const Status& failure,
                                     std::optional<std::uint64_t> needed_bytes,
                                     std::uint64_t free_bytes);
// `failure` of taking hold of CACHE.
[[nodiscard]] Status advise_on_writing(const Status& failure);

}  // namespace xtts::pipeline
