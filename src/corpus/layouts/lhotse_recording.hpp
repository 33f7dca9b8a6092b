// Reads recordings of lhotse's manifests, on their own lines or within cuts. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::corpus {

// Durations have few digits; a thousandth of a second cannot be heard.
inline constexpr double kLhotseToleranceSeconds = 1e-3;

using LhotseChannels = std::vector<std::int64_t>;

// Null: no such member, or it is not a text.
[[nodiscard]] const std::string* text_at(const nlohmann::json& object, const char* key);
// The member is a number or a list of numbers; empty: none.
[[nodiscard]] LhotseChannels channels_at(const nlohmann::json& object, const char* key);

// Why the supervised channels do not fit. A source's channels are mixed, so speech on one of them
// would be heard with the others. Lhotse writes channel 0 where none was given. Empty `recorded`:
// unknown. nullopt: they fit.
[[nodiscard]] std::optional<std::string> fault_of_channels(const LhotseChannels& said_on,
                                                           const LhotseChannels& recorded);

// The path of a recording's only file. kBadInput: it has another source. Commands are never run,
// and addresses never fetched.
[[nodiscard]] Result<std::string> source_of_recording(const nlohmann::json& recording);

}  // namespace xtts::corpus
