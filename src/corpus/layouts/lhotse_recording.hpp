// What lhotse's manifests say of recordings, as lines of their own or within cuts. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::corpus {

// Durations are written with a few digits; a thousandth of a second is not heard.
inline constexpr double kLhotseToleranceSeconds = 1e-3;

using LhotseChannels = std::vector<std::int64_t>;

// Null: no such member, or it is no text.
[[nodiscard]] const std::string* text_at(const nlohmann::json& object, const char* key);
// A number or several; empty: none.
[[nodiscard]] LhotseChannels channels_at(const nlohmann::json& object, const char* key);

// The channels of a source are mixed, so that what is said on one of them alone would be heard
// with what others say at the same time. Lhotse writes channel 0 where nobody said any. `recorded`
// empty: unknown. nullopt: all is well.
[[nodiscard]] std::optional<std::string> fault_of_channels(const LhotseChannels& said_on,
                                                           const LhotseChannels& recorded);

// The path of the one file that a recording is. kBadInput: it is not one; commands are never run,
// and addresses never fetched.
[[nodiscard]] Result<std::string> source_of_recording(const nlohmann::json& recording);

}  // namespace xtts::corpus
