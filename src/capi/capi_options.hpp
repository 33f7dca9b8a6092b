// What the C entries share. Failures: kInvalidArgument (a field that cannot be).
#pragma once

#include "xtts/batch.hpp"
#include "xtts/xtts.h"

namespace xtts::capi {

// Of a struct of any size that xtts_reader_options_init() has filled in.
[[nodiscard]] Result<ReaderOptions> options_of(const xtts_reader_options& given);

}  // namespace xtts::capi
