// The usual file-name extensions of audio, in order of preference. Where a clip exists in several
// formats, the first in the table is used. The table saves a look into each of these files. Audio
// under any other name is found by content_probe.hpp. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xtts::corpus {

// Position in the table: lower is preferred. `extension` has no dot; letter case does not matter.
[[nodiscard]] std::optional<std::uint8_t> audio_rank(std::string_view extension) noexcept;

// The rank of audio whose extension is not in the table: after all that are.
inline constexpr std::uint8_t kRankOfUnknownSuffix = 255;

// True where files with this extension are often not audio (.ts is also TypeScript). Each such file
// is looked into.
[[nodiscard]] bool is_ambiguous_suffix(std::string_view extension) noexcept;

// The letters after the last dot, where they can be a suffix: one to eight letters and digits, at
// least one a letter. Empty for "LJ001.0001" and "a.b/c".
[[nodiscard]] std::string_view suffix_of(std::string_view path) noexcept;
// `path` without its suffix_of() and the dot before it.
[[nodiscard]] std::string_view without_suffix(std::string_view path) noexcept;

// `path` without its extension where that is an audio extension; else `path` itself.
[[nodiscard]] std::string_view without_audio_extension(std::string_view path) noexcept;

}  // namespace xtts::corpus
