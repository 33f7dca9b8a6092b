// The manifests of NVIDIA NeMo, whose audio is in files (nemo) or in tars (nemo_tar): how they end,
// and what their fields mean.
#pragma once

#include <array>
#include <string_view>

#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {

inline constexpr std::array<std::string_view, 2> kNemoEndings = {"json", "jsonl"};

// A duration without an offset stays a field like any other.
inline constexpr std::array<FieldNames, 7> kNemoNames = {{
    {FieldRole::kAudio, {"audio_filepath"}},
    {FieldRole::kRaw, {"text"}},
    {FieldRole::kNormalized, {"normalized_text", "text_normalized"}},
    {FieldRole::kSpeaker, {"speaker"}},
    {FieldRole::kLanguage, {"lang", "language"}},
    {FieldRole::kStart, {"offset"}},
    {FieldRole::kDuration, {"duration"}},
}};

}  // namespace xtts::corpus
