// Value rules: whether a dtype can hold a clip's values, checked before they are stored. Narrowing
// itself never fails: float16 makes 70,000 infinite and 1e-9 zero.
//
// A value that is not finite, or beyond the dtype, rejects the clip in build and is an error in
// convert. Values that become 0, and samples that are cut at full scale, give a warning above a
// share. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/channel_norm.hpp"
#include "formats/reason.hpp"
#include "xtts/dtype.hpp"

namespace xtts::records {

// From this share on, a warning tells how many of a column's values became 0.
inline constexpr double kVanishedShareTold = 0.01;
// A wave of 16 bits cuts samples at full scale. Lossy codecs and resampling overshoot full scale by
// less than this bound. A higher peak means another scale, and cutting would leave little but
// square waves.
inline constexpr float kWavePeakMax = 2.0F;
inline constexpr double kCutShareTold = 0.001;

// Says whether a column's values may be stored.
struct ValueVerdict {
  std::optional<formats::Reason> refusal = {};  // they may not: not finite, or beyond the dtype
  std::optional<formats::Reason> warning = {};  // they may, but the clip gets this warning
};

// `values`: float32, to be stored in `dtype`, a float type.
[[nodiscard]] ValueVerdict check_values(std::string_view column, std::span<const float> values,
                                        DType dtype);
// `samples`: to be stored as int16.
[[nodiscard]] ValueVerdict check_int16_wave(std::span<const float> samples);

// Turns stored rows of float32 or a half float into rows of `to`: normalized if there is a norm,
// and rounded once. Convert stores these rows and verify recomputes them; one function gives both
// the same bits and the same verdict. `changed` is not written if the rows are refused.
[[nodiscard]] ValueVerdict change_rows(std::string_view column, std::span<const std::byte> rows,
                                       DType from, const ChannelNorm* norm, DType to,
                                       std::vector<std::byte>& changed);

}  // namespace xtts::records
