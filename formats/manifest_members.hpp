// The members of a manifest as JSON, without `index`: manifest.json and set.json share them.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/json_fields.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// kInternal as of encode_manifest().
[[nodiscard]] Result<nlohmann::json> to_checked_json(const Manifest& manifest);

// Reads format, version and flags, which decide the meaning of the rest. `what` names the document.
[[nodiscard]] Status read_identity(JsonFields& fields, std::string_view format,
                                   std::string_view what, Manifest& manifest);
void read_members(JsonFields& fields, Manifest& manifest);

}  // namespace xtts::formats
