// Which of libav's decoders may see a corpus; formats.hpp has the same of demuxers. Pure function.
#pragma once

namespace xtts::decode::detail {

// Every audio decoder libav was built with, comma separated: nothing else is ever opened, not even
// to guess the parameters of a video track that stands beside the sound.
[[nodiscard]] const char* allowed_codecs();

}  // namespace xtts::decode::detail
