// The colours that all pictures share.
#pragma once

#include "report/colormap.hpp"

namespace xtts::report {

inline constexpr Rgb kPaper{255, 255, 255};
inline constexpr Rgb kInk{34, 34, 40};
inline constexpr Rgb kSoftInk{110, 110, 120};

}  // namespace xtts::report
