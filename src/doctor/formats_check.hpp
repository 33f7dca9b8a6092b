// Which formats have the clips, and which common loaders fail on them? Pure.
#pragma once

#include <cstdint>

#include "doctor/check.hpp"
#include "doctor/corpus_probe.hpp"

namespace xtts::doctor {

[[nodiscard]] Check check_formats(const SampledSound& sound, std::uint32_t recipe_rate_hz);

}  // namespace xtts::doctor
