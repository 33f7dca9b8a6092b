// The four sections as JSON: every member has its name in recipes (member_table.hpp), and
// enumerators have the names of formats/enum_names.hpp.
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_members.hpp"
#include "formats/recipe_members.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

template <typename Section>
class SectionWriter {
 public:
  json object = json::object();

  explicit SectionWriter(const Section& section) : section_(section) {}

  void member(const auto& row, const std::string& name, auto at) {
    const auto& value = at(section_);
    if (row.in_json == InJson::kLater && value == at(unset_)) return;
    place_of(name) = in_json(value);
  }
  bool enters(const auto& row, const std::string&, auto at) {
    return row.is_there == nullptr || (at(section_).*row.is_there)();
  }

 private:
  json& place_of(std::string_view name) {
    json* place = &object;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
      place = &(*place)[std::string(name.substr(0, dot))];
      name.remove_prefix(dot + 1);
    }
    return (*place)[std::string(name)];
  }

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

  const Section& section_;
  const Section unset_ = {};
};

template <typename Section>
json written(const Section& section, const auto& table) {
  SectionWriter<Section> writer(section);
  visit_members(table, "", kItself, writer);
  return std::move(writer.object);
}

}  // namespace

json to_json(const FeatureConfig& config) {
  return written(config, kFeatureMembers);
}

json to_json(const TextConfig& config) {
  return written(config, kTextMembers);
}

json to_json(const CorpusConfig& config) {
  return written(config, kCorpusMembers);
}

json to_json(const StorageConfig& config) {
  return written(config, kStorageMembers);
}

}  // namespace xtts::formats
