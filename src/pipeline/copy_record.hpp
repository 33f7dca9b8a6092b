// A clip whose sound the published cache holds by another id: its record, copied instead of
// decoded. Any number of threads.
#pragma once

#include <span>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/block.hpp"
#include "formats/recipe_fwd.hpp"
#include "reader/cache_view.hpp"
#include "records/clip_worker.hpp"

namespace xtts::pipeline {

// As ClipWorker::process would make it, of the record at `position`. Failures: those of reading it;
// the clip can still be decoded then.
[[nodiscard]] Result<records::ClipOutcome> copy_record(reader::CacheView& from,
                                                       std::uint64_t position,
                                                       const formats::Recipe& recipe,
                                                       std::span<const formats::ColumnSpec> columns,
                                                       const corpus::Clip& clip);

}  // namespace xtts::pipeline
