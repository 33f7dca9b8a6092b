// Names the sound that FFmpeg opens without a word and reads wrongly, by its header. It is refused,
// with what to do. tests/unit/decode/sndfile_test.cpp has found what is listed
// here. Pure functions.
#pragma once

#include <string_view>

#include "decode/detail/libav.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

// By the first 12 bytes, before anything is opened.
[[nodiscard]] Status refuse_misread(std::string_view head);
// By what the container says of the sound.
[[nodiscard]] Status refuse_misread(const AVInputFormat& container, const AVCodecParameters& sound);

}  // namespace xtts::decode::detail
