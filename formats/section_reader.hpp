// SectionReader copies members of a manifest's section (an object) into a config struct. It keeps
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

#include "base/formatted.hpp"
#include "formats/enum_names.hpp"
#include "formats/member_table.hpp"
#include "formats/record_length.hpp"
#include "formats/text_config.hpp"
#include "xtts/dtype.hpp"

namespace xtts::formats {

template <typename Section>
class SectionReader {
 public:
  // `name` is the section's, such as "features".
  SectionReader(const nlohmann::json& object, std::string name, Section& section,
                std::string& problem)
      : object_(object), name_(std::move(name)), section_(section), problem_(problem) {}

  void member(const auto& row, const std::string& name, auto at) {
    const nlohmann::json* const value = look(name);
    if (value != nullptr) return copy(name, *value, at(section_));
    if (row.in_json == InJson::kAlways) refuse(name);
  }
  bool enters(const auto& row, const std::string& name, auto /*at*/) {
    return row.is_there == nullptr || look(name) != nullptr;
  }

 private:
  template <typename T>
  void copy(const std::string& key, const nlohmann::json& value, T& target) {
    copy_value(key, value, target);
  }
  // An unset value is stored as null.
  template <typename T>
  void copy(const std::string& key, const nlohmann::json& value, std::optional<T>& target) {
    if (!value.is_null()) copy_value(key, value, target.emplace());
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
    const auto is_table = [](const nlohmann::json& item) {
      return item.is_object() && item.contains("name") && item["name"].is_string() &&
             item.contains("rows") && item["rows"].is_string();
    };
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_table)) return refuse(key);
    for (const nlohmann::json& item : value) target.push_back({item["name"], item["rows"]});
  }

  // Null where it is absent, and after a problem.
  const nlohmann::json* look(std::string_view name) {
    const nlohmann::json* object = &object_;
    std::string path = name_;
    while (true) {
      if (problem_.empty() && !object->is_object()) problem_ = path + " is not an object";
      if (!problem_.empty()) return nullptr;
      const std::string word(name.substr(0, name.find('.')));
      const auto found = object->find(word);
      if (found == object->end()) return nullptr;
      object = &*found;
      if (word.size() == name.size()) return object;
      name.remove_prefix(word.size() + 1);
      path += "." + word;
    }
  }
  void refuse(const std::string& key) {
    if (problem_.empty())
      problem_ = formatted("{}.{} is missing or unknown to this version", name_, key);
  }

  const nlohmann::json& object_;
  std::string name_;
  Section& section_;
  std::string& problem_;
};

// Keeps the first problem of all sections that are read with it.
template <typename Section>
void read_section(const nlohmann::json& object, std::string name, const auto& table,
                  Section& section, std::string& problem) {
  SectionReader<Section> reader(object, std::move(name), section, problem);
  visit_members(table, "", kItself, reader);
}

}  // namespace xtts::formats
