// Published clips as a plan: the plan of a build from nothing, read back from a cache instead of
// DATA. So a command that writes a cache anew goes through the same steps as a build, and ends with
// the same bytes. Several parts (build --partition) give one plan of all their clips.
//
// Memory: about 400 bytes a clip and its text, like a build's plan. Pure, except for the reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/reject.hpp"
#include "pipeline/build_plan.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct RecordPlace {
  std::size_t part = 0;  // index of the cache
  std::uint64_t position = 0;
};

struct PublishedClips {
  pipeline::BuildPlan plan;  // canonical order; clips with a record, and rejected ones
  // Parallel to plan.corpus.clips: the place of its record; nothing for a rejected clip.
  std::vector<std::optional<RecordPlace>> places;
  std::vector<formats::Reject> rejects;  // all, lines of lists included
};

// kUnsupported if a rejected clip has no place: the cache's version did not write it down.
[[nodiscard]] Result<PublishedClips> published_clips(
    std::span<const std::shared_ptr<reader::CacheView>> parts);

}  // namespace xtts::maintain
