// By what a batch's column is normalized: the corpus' statistics, which the cache was published
// with, or numbers that were given. Pure; share freely. Failures: kInvalidArgument (no numbers for
// this column, or numbers that do not fit it), kMismatch (several clips, each with its own).
#pragma once

#include <memory>

#include "base/channel_norm.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// Null: the numbers are handed out as they lie, because nothing was asked for, or because the
// corpus' statistics are baked in.
[[nodiscard]] Result<std::shared_ptr<const ChannelNorm>> find_norm(
    const reader::ClipSet& clips, const reader::SharedColumn& column, const ColumnRequest& request);

}  // namespace xtts::loader
