// JSON of what may be absent.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace xtts::probe {

template <typename Value>
[[nodiscard]] nlohmann::json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace xtts::probe
