// The members of a manifest as JSON, without `index`: manifest.json and set.json share them, and
// plan.json has the same lists of names.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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

// A name's number is its place in its list. Plan rows hold it as i32, i16 or u16.
inline constexpr std::size_t kSpeakersMax = std::size_t{1} << 31U;
inline constexpr std::size_t kLanguagesMax = std::size_t{1} << 15U;
inline constexpr std::size_t kDatasetsMax = std::size_t{1} << 16U;

// A list of names, each of which is there once. `remedy` says what makes a document with a name
// twice anew.
[[nodiscard]] std::vector<std::string> read_names(JsonFields& fields, const char* key,
                                                  std::size_t count_max, std::string_view remedy);

}  // namespace xtts::formats
