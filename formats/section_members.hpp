// SectionMembers copies members of a manifest's section (an object) into a config struct. It keeps
// the first problem: a missing member, another type, or a word that this version does not know.
// Members after a problem keep their defaults. Private to the decoders of sections.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "formats/enum_names.hpp"
#include "formats/record_length.hpp"
#include "formats/text_config.hpp"
#include "xtts/dtype.hpp"

namespace xtts::formats {

class SectionMembers {
 public:
  SectionMembers(const nlohmann::json& object, std::string path, std::string& problem)
      : object_(object), path_(std::move(path)), problem_(problem) {
    if (!object_.is_object() && problem_.empty()) problem_ = path_ + " is not an object";
  }

  template <typename T>
  void always(const std::string& key, T& target) {
    const nlohmann::json* value = find(key);
    if (value != nullptr) copy_value(key, *value, target);
  }
  // An unset value is stored as null.
  template <typename T>
  void always(const std::string& key, std::optional<T>& target) {
    const nlohmann::json* value = find(key);
    if (value != nullptr && !value->is_null()) copy_value(key, *value, target.emplace());
  }
  // A missing member keeps its default.
  template <typename T>
  void later(const std::string& key, T& target, const T& /*unset*/) {
    const nlohmann::json* value = look(key);
    if (value != nullptr) copy_value(key, *value, target);
  }

  void section(const std::string& key, const auto& visit) { visit_inside(key, find(key), visit); }
  void later_section(const std::string& key, const auto& visit) {
    visit_inside(key, look(key), visit);
  }
  void section_where(const std::string& key, bool /*condition*/, const auto& visit) {
    if (look(key) != nullptr) section(key, visit);
  }

 private:
  void visit_inside(const std::string& key, const nlohmann::json* value, const auto& visit) {
    static const nlohmann::json kEmpty = nlohmann::json::object();
    SectionMembers inside(value == nullptr ? kEmpty : *value, path_ + "." + key, problem_);
    visit(inside);
  }

  template <typename T>
  void copy_value(const std::string& key, const nlohmann::json& value, T& target) {
    if constexpr (std::is_same_v<T, DType>) {
      const auto parsed = value.is_string() ? parse_dtype(value.get<std::string>()) : std::nullopt;
      parsed ? void(target = *parsed) : refuse(key);
    } else if constexpr (std::is_enum_v<T>) {
      const auto parsed =
          value.is_string() ? parse_enum<T>(value.get<std::string>()) : std::nullopt;
      parsed ? void(target = *parsed) : refuse(key);
    } else if constexpr (std::is_same_v<T, RecordLength>) {
      // A cache has numbers; only a recipe that no build has seen leaves lengths open.
      const auto open =
          value.is_string() ? parse_record_length(value.get<std::string>()) : std::nullopt;
      target.least.reset();
      open ? void(target = *open) : copy_value(key, value, target.number);
    } else if constexpr (std::is_same_v<T, bool>) {
      value.is_boolean() ? void(target = value.get<bool>()) : refuse(key);
    } else if constexpr (std::is_same_v<T, double>) {
      value.is_number() ? void(target = value.get<double>()) : refuse(key);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value.is_string() ? void(target = value.get<std::string>()) : refuse(key);
    } else if constexpr (std::is_same_v<T, std::vector<TextTable>>) {
      copy_tables(key, value, target);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      const bool fits =
          value.is_array() && std::all_of(value.begin(), value.end(),
                                          [](const auto& number) { return number.is_number(); });
      fits ? void(target = value.get<T>()) : refuse(key);
    } else {
      const bool fits =
          value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<T>::max();
      fits ? void(target = value.get<T>()) : refuse(key);
    }
  }

  void copy_tables(const std::string& key, const nlohmann::json& value,
                   std::vector<TextTable>& target) {
    if (!value.is_array()) return refuse(key);
    for (const nlohmann::json& item : value) {
      SectionMembers members(item, path_ + "." + key, problem_);
      TextTable& table = target.emplace_back();
      members.always("name", table.name);
      members.always("rows", table.rows);
    }
  }

  const nlohmann::json* look(const std::string& key) const {
    if (!problem_.empty()) return nullptr;
    const auto found = object_.find(key);
    return found != object_.end() ? &*found : nullptr;
  }
  const nlohmann::json* find(const std::string& key) {
    const nlohmann::json* const found = look(key);
    if (found == nullptr) refuse(key);
    return found;
  }
  void refuse(const std::string& key) {
    if (problem_.empty()) problem_ = path_ + "." + key + " is missing or unknown to this version";
  }

  const nlohmann::json& object_;
  std::string path_;
  std::string& problem_;
};

}  // namespace xtts::formats
