// Lists the decoders of libav that may see a corpus; formats.hpp lists the demuxers. Pure function.
#pragma once

namespace xtts::decode::detail {

// Returns every audio decoder that libav was built with, separated by commas. No other decoder is
// ever opened, not even to guess the parameters of a video track beside the sound.
[[nodiscard]] const char* allowed_codecs();

}  // namespace xtts::decode::detail
