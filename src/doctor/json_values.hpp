// Values of JSON that another program wrote: what is missing, or of another type, is empty.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace xtts::doctor {

[[nodiscard]] inline std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);  // the end, where `object` is none
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

[[nodiscard]] inline std::optional<double> number_at(const nlohmann::json& object,
                                                     const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

[[nodiscard]] inline nlohmann::json list_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : nlohmann::json::array();
}

}  // namespace xtts::doctor
