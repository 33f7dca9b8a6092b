// The decoder of a simulation. A file holds two odd bytes and "sound NUMBER MS": it decodes to MS
// milliseconds of noise number NUMBER. Any other content is broken sound. The name's suffix
// decides with it where it is "sln" or "g722", as for formats without a header.
//
// It notes each content that it decodes. Its result depends on nothing else.
#pragma once

#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"

namespace xtts::simulation {

using DecodedContents = std::vector<std::string>;

// `decoded` may be null. It outlives the decoders.
[[nodiscard]] audio::MakeDecoder make_stub_decoders(DecodedContents* decoded);

}  // namespace xtts::simulation
