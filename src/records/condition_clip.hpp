// The conditioned sound of one clip (decoded, mixed, cut, resampled, trimmed, scaled), for people
// to hear: `show --wav`.
#pragma once

#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/source_place.hpp"
#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::records {

// `facts` say which part of the source the clip is; `make_decoder` works as in RunConfig.
[[nodiscard]] Result<std::vector<float>> condition_clip(Env& env,
                                                        const audio::MakeDecoder& make_decoder,
                                                        const formats::FeatureConfig& config,
                                                        const corpus::SourcePlace& source,
                                                        const formats::RecordFacts& facts);

}  // namespace xtts::records
