// FFmpeg behind AudioDecoder, in the calling process. Only the program xtts-decode and tests link
// it. All other code uses decode_worker/, whose decoder works in that program.
#pragma once

#include <memory>
#include <string>

#include "audio/audio_decoder.hpp"

namespace xtts::decode {

[[nodiscard]] std::unique_ptr<audio::AudioDecoder> make_libav_decoder();

// The same text as AudioDecoder::libraries().
[[nodiscard]] std::string decode_libraries();

}  // namespace xtts::decode
