// Lines "file|...|..." of file lists, and which of their fields is the speaker: file|text,
// file|text|speaker and file|speaker|text all occur, and no list says which it has. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::corpus {

enum class PipeForm : std::uint8_t {
  kText,            // file|text
  kTextSpeaker,     // file|text|speaker
  kSpeakerText,     // file|speaker|text
  kTextNormalized,  // file|text|normalized text
};
// "file|text|speaker".
[[nodiscard]] std::string_view to_string(PipeForm form) noexcept;

// The form of lines of three fields, by their second and third: a speaker is one word in all lines,
// and speakers are fewer than texts. Where both fields have spaces and hardly repeat, they are two
// writings of a text.
[[nodiscard]] PipeForm form_of_columns(const std::vector<std::string_view>& second,
                                       const std::vector<std::string_view>& third);

}  // namespace xtts::corpus
