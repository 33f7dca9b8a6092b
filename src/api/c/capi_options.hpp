// What the C entries share. Failures: kInvalidArgument (a field that cannot be).
#pragma once

#include "xtts/batch.hpp"
#include "xtts/xtts.h"

namespace xtts::capi {

// Of a struct of any size that xtts_reader_options_init() has filled in.
[[nodiscard]] Result<ReaderOptions> options_of(const xtts_reader_options& given);
// Whether xtts_reader_stats was or may be as long: it ends with a field, or is a newer header's.
[[nodiscard]] bool is_size_of_stats(std::size_t size_bytes) noexcept;

}  // namespace xtts::capi
