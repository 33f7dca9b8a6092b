// Says what the numbers of a recipe's mels are, for people and for programs. It is derived from
// the features section alone, so it is right for every recipe and every --set. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "formats/recipe_fwd.hpp"
#include "xtts/mel_normalization.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

struct Manifest;

// nullopt: the recipe has no mels, but only samples or the bins of the spectrum.
[[nodiscard]] std::optional<Normalization> normalization_of(const FeatureConfig& features);
// The same of a manifest's section. kUnsupported: it is of a newer version.
[[nodiscard]] Result<std::optional<Normalization>> normalization_of(const Manifest& manifest);
// Gives {"text", "log", "floor", "floor_mode", "range", "method", "baked", "offset", "scale"}.
// offset and scale are a number, a list of one a channel, or null; all of it is null for nullopt.
[[nodiscard]] nlohmann::json to_json(const std::optional<Normalization>& normalization);

// "ln magnitude": what the spectrum is before any normalization.
[[nodiscard]] std::string log_text(const FeatureConfig& features);

}  // namespace xtts::formats
