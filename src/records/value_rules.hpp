// Value rules: whether a dtype can hold a clip's values, asked before they are stored. Narrowing by
// itself fails never: float16 makes 70,000 infinite and 1e-9 zero.
//
// A value that is not finite, or beyond the dtype, costs the clip: a reject of build, an error of
// convert. Values that become 0, and samples that are cut at full scale, cost it a warning from a
// share on. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/channel_norm.hpp"
#include "formats/reason.hpp"
#include "xtts/dtype.hpp"

namespace xtts::records {

// From so many on, the share of a column's values that became 0 is told.
inline constexpr double kVanishedShareTold = 0.01;
// A wave of 16 bits cuts at full scale. Lossy codecs and resampling overshoot it, by less than
// this; what goes beyond is another scale, of which little but square waves would be left.
inline constexpr float kWavePeakMax = 2.0F;
inline constexpr double kCutShareTold = 0.001;

// Whether a column's values may be stored.
struct ValueVerdict {
  std::optional<formats::Reason> refusal = {};  // they may not: not finite, or beyond the dtype
  std::optional<formats::Reason> warning = {};  // they may, but
};

// `values`: float32, on their way into `dtype`, a float type.
[[nodiscard]] ValueVerdict check_values(std::string_view column, std::span<const float> values,
                                        DType dtype);
// `samples` on their way into int16.
[[nodiscard]] ValueVerdict check_int16_wave(std::span<const float> samples);

// Stored rows of float32 or a half float as rows of `to`: normalized, where there is a norm, and
// rounded once. One function for convert, which stores them, and for verify, which makes them
// again: the same bits, the same verdict. `changed` is not written where they are refused.
[[nodiscard]] ValueVerdict change_rows(std::string_view column, std::span<const std::byte> rows,
                                       DType from, const ChannelNorm* norm, DType to,
                                       std::vector<std::byte>& changed);

}  // namespace xtts::records
