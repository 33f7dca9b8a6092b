// The end of manifest.json: `,"xxh3_128":"DIGEST"}` and a line feed. The digest covers all bytes
// before that comma, so a reader proves the text before it parses it.
#pragma once

#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::formats {

// `object` is the canonical text of a JSON object with at least one member. All its keys sort
// before "xxh3_128".
[[nodiscard]] std::string append_manifest_trailer(std::string object);
[[nodiscard]] Status verify_manifest_trailer(std::string_view text);

}  // namespace xtts::formats
