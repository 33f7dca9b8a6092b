// The manifests of NVIDIA NeMo with audio in files (nemo) or tars (nemo_tar): their suffixes, and
// the meaning of their fields.
#pragma once

#include <array>
#include <string_view>

#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {

inline constexpr std::array<std::string_view, 2> kNemoEndings = {"json", "jsonl"};

// A duration without an offset is kept as a further field.
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
