// The one table of file-name extensions that are taken for audio, in order of preference: where a
// clip exists in several formats, the first of the table is used. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xtts::corpus {

// Position in the table: lower is preferred. `extension` without the dot, in any letter case.
[[nodiscard]] std::optional<std::uint8_t> audio_rank(std::string_view extension) noexcept;

// "wav, flac, ...": for messages that say what was looked for.
[[nodiscard]] std::string audio_extension_list();

// `path` without its extension where that is an audio extension; else `path` itself.
[[nodiscard]] std::string_view without_audio_extension(std::string_view path) noexcept;

}  // namespace xtts::corpus
