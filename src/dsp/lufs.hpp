// Integrated loudness after ITU-R BS.1770-4 (EBU R 128), of one channel: K-weighting, blocks of 400
// ms every 100 ms, gates at -70 LUFS and 10 LU under what is left. Pure; only reading can fail.
#pragma once

#include <cstdint>
#include <optional>

#include "dsp/sample_reader.hpp"

namespace xtts::dsp {

// Of [first, first + count). A clip shorter than a block is one block of its own length. Nothing
// where no block is louder than -70 LUFS.
[[nodiscard]] Result<std::optional<double>> measure_lufs(SampleReader& samples, std::uint64_t first,
                                                         std::uint64_t count,
                                                         std::uint32_t sample_rate_hz);

}  // namespace xtts::dsp
