// Integrated loudness of one channel after ITU-R BS.1770-4 (EBU R 128): K-weighting, blocks of 400
// ms every 100 ms, a gate at -70 LUFS, then one at 10 LU under the remaining blocks. Pure; only
// reading can fail.
#pragma once

#include <cstdint>
#include <optional>

#include "dsp/sample_reader.hpp"

namespace xtts::dsp {

// Measures [first, first + count). A clip shorter than a block is one block of its own length.
// Returns nothing if no block is louder than -70 LUFS.
[[nodiscard]] Result<std::optional<double>> measure_lufs(SampleReader& samples, std::uint64_t first,
                                                         std::uint64_t count,
                                                         std::uint32_t sample_rate_hz);

}  // namespace xtts::dsp
