// The four sections as JSON: every field has its name in recipes, and enumerators have the names
// of formats/enum_names.hpp (section_fields.hpp).
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/section_fields.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

class FieldWriter {
 public:
  json object = json::object();

  template <typename Value>
  void always(const std::string& name, const Value& value) {
    object[name] = in_json(value);
  }
  template <typename Value>
  void later(const std::string& name, const Value& value, const Value& unset) {
    if (value != unset) always(name, value);
  }
  void section(const std::string& name, const auto& visit) {
    FieldWriter inside;
    visit(inside);
    object[name] = std::move(inside.object);
  }
  void later_section(const std::string& name, const auto& visit) {
    FieldWriter inside;
    visit(inside);
    if (!inside.object.empty()) object[name] = std::move(inside.object);
  }
  void section_where(const std::string& name, bool condition, const auto& visit) {
    if (condition) section(name, visit);
  }

 private:
  template <typename Value>
  static json in_json(const Value& value) {
    if constexpr (std::is_same_v<Value, DType>) {
      return std::string(to_string(value));
    } else if constexpr (std::is_same_v<Value, RecordLength>) {
      return value.is_of_corpus() ? json(to_string(value)) : json(value.number);
    } else if constexpr (std::is_enum_v<Value>) {
      return std::string(name_of(value));
    } else {
      return value;
    }
  }
  static json in_json(const std::vector<TextTable>& tables) {
    json list = json::array();
    for (const TextTable& table : tables)
      list.push_back({{"name", table.name}, {"rows", table.rows}});
    return list;
  }
  template <typename Value>
  static json in_json(const std::optional<Value>& value) {
    return value ? in_json(*value) : json();
  }
};

}  // namespace

json to_json(const FeatureConfig& config) {
  FieldWriter fields;
  visit_features(config, fields);
  return std::move(fields.object);
}

json to_json(const TextConfig& config) {
  FieldWriter fields;
  visit_text(config, fields);
  return std::move(fields.object);
}

json to_json(const CorpusConfig& config) {
  FieldWriter fields;
  visit_corpus(config, fields);
  return std::move(fields.object);
}

json to_json(const StorageConfig& config) {
  FieldWriter fields;
  visit_storage(config, fields);
  return std::move(fields.object);
}

}  // namespace xtts::formats
