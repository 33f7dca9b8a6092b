// The manifests of NVIDIA NeMo, whose audio is in files (nemo) or in tars (nemo_tar): how they end,
// and what their fields mean.
#pragma once

#include <array>
#include <string_view>

#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {

inline constexpr std::array<std::string_view, 2> kNemoEndings = {"json", "jsonl"};

// A duration without an offset stays a field like any other.
inline constexpr std::array<FieldName, 9> kNemoNames = {{
    {"audio_filepath", FieldRole::kAudio},
    {"text", FieldRole::kRaw},
    {"normalized_text", FieldRole::kNormalized},
    {"text_normalized", FieldRole::kNormalized},
    {"speaker", FieldRole::kSpeaker},
    {"lang", FieldRole::kLanguage},
    {"language", FieldRole::kLanguage},
    {"offset", FieldRole::kStart},
    {"duration", FieldRole::kDuration},
}};

}  // namespace xtts::corpus
