// PNG files, 8 bits a channel, RGB, through zlib. Pure; the same pixels give the same bytes with
// the same zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "report/colormap.hpp"
#include "xtts/status.hpp"

namespace xtts::report {

// `pixels` [height, width], row by row from the top. kInvalidArgument where the sizes do not fit
// together or exceed 32,768 on a side; kResource where zlib gets no memory.
[[nodiscard]] Result<std::string> encode_png(std::span<const Rgb> pixels, std::size_t width,
                                             std::size_t height);

}  // namespace xtts::report
