// Published clips as a plan: what a build from nothing would have planned, read back from a cache
// instead of DATA. So whatever writes a cache anew goes through the same steps as a build, and ends
// with the same bytes.
//
// Of several parts (build --partition) it is the plan of them all.
//
// Memory: as a build's plan, about 400 bytes a clip and its text. Pure but for the reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/reject.hpp"
#include "pipeline/plan.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct RecordPlace {
  std::size_t part = 0;  // which of the caches
  std::uint64_t position = 0;
};

struct PublishedClips {
  pipeline::Plan plan;  // canonical order; those that have a record, and those that were rejected
  // Beside plan.corpus.clips: where its record is; nothing for a rejected clip.
  std::vector<std::optional<RecordPlace>> places;
  std::vector<formats::Reject> rejects;  // all, lines of lists included
};

// kUnsupported where a rejected clip has no place: made by a version that did not write it down.
[[nodiscard]] Result<PublishedClips> published_clips(
    std::span<const std::shared_ptr<reader::CacheView>> parts);

}  // namespace xtts::maintain
