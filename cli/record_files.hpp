// One record as files that other programs read. Pure: bytes in, bytes out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::cli {

// Any column's values as float32.
[[nodiscard]] std::vector<float> values_as_float32(const reader::RecordData& record);

// NumPy's .npy, version 1.0, little-endian, C order, true rows only. bfloat16 becomes float32,
// because NumPy has no name for it; every other dtype is kept.
[[nodiscard]] std::string encode_npy(const reader::RecordData& record);

// WAV with 32-bit float samples, one channel: nothing is rounded or clipped. kInvalidArgument
// beyond 4 GiB.
[[nodiscard]] Result<std::string> encode_wav(std::span<const float> samples, std::uint32_t rate_hz);

}  // namespace xtts::cli
