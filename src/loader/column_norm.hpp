// Finds the numbers that a batch's column is normalized by: the corpus' statistics, which the cache
// was published with, or numbers that the user gave. Pure, share freely. Failures: kInvalidArgument
// (no numbers for this column, or numbers that do not fit it), kMismatch (several caches with
// different statistics).
#pragma once

#include <memory>

#include "base/channel_norm.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// Returns null where the column is handed out as stored: normalization was not asked for, or the
// corpus' statistics are baked in.
[[nodiscard]] Result<std::shared_ptr<const ChannelNorm>> find_norm(
    const reader::ClipSet& clips, const reader::SharedColumn& column, const ColumnRequest& request);

}  // namespace xtts::loader
