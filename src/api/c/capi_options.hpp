// Helpers of the C entries. Failures: kInvalidArgument (a field that cannot be).
#pragma once

#include "xtts/batch.hpp"
#include "xtts/xtts.h"

namespace xtts::capi {

// Takes a struct of any size that xtts_reader_options_init() has filled in.
[[nodiscard]] Result<ReaderOptions> options_of(const xtts_reader_options& given);
// True when xtts_reader_stats may have this size: the size ends with a field, or belongs to a
// newer header.
[[nodiscard]] bool is_size_of_stats(std::size_t size_bytes) noexcept;

}  // namespace xtts::capi
