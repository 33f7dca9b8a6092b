#include "maintain/manifest_diff.hpp"

#include <algorithm>

#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"

namespace xtts::maintain {
namespace {

using formats::ColumnEntry;
using formats::ColumnSpec;
using formats::Manifest;
using nlohmann::json;

void add_differences(const json& a, const json& b, const std::string& prefix,
                     std::vector<std::string>& out) {
  const formats::SideNames names{
      .in_first = "in A", .in_second = "in B", .not_in_second = "absent in B"};
  for (auto& line : formats::describe_differences(a, b, prefix, names)) out.push_back(line);
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// The first axis may differ: it only bounds the rows of a record.
bool is_comparable(const ColumnSpec& a, const ColumnSpec& b) {
  return is_float(a.dtype) == is_float(b.dtype) && a.shape.size() == b.shape.size() &&
         std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1);
}

json to_json(const ColumnSpec& column) {
  return {{"dtype", to_string(column.dtype)},
          {"layout", formats::name_of(column.layout)},
          {"shape", column.shape}};
}

json to_json(const formats::Numerics& numerics) {
  return {{"device", numerics.device}, {"isa", numerics.isa}, {"libraries", numerics.libraries}};
}

void compare_columns(const Manifest& a, const Manifest& b, ManifestDifference& out) {
  for (const ColumnEntry& column : a.columns) {
    const std::string& name = column.spec.name;
    const ColumnEntry* const other = b.find_column(name);
    if (other == nullptr) {
      out.columns.push_back(name + ": only in A");
      out.all_comparable = false;
      continue;
    }
    add_differences(to_json(column.spec), to_json(other->spec), name, out.columns);
    if (is_comparable(column.spec, other->spec)) {
      out.comparable_columns.push_back(name);
    } else {
      out.columns.push_back(name + ": its numbers cannot be compared");
      out.all_comparable = false;
    }
  }
  for (const ColumnEntry& column : b.columns) {
    if (a.find_column(column.spec.name) != nullptr) continue;
    out.columns.push_back(column.spec.name + ": only in B");
    out.all_comparable = false;
  }
}

}  // namespace

ManifestDifference compare_manifests(const Manifest& a, const Manifest& b) {
  ManifestDifference out;
  add_differences(a.recipe_name, b.recipe_name, "name", out.recipe);
  add_differences(a.features, b.features, "features", out.recipe);
  add_differences(a.text, b.text, "text", out.recipe);
  add_differences(a.corpus, b.corpus, "corpus", out.recipe);
  add_differences(a.storage, b.storage, "storage", out.recipe);
  add_differences(to_json(a.numerics), to_json(b.numerics), "", out.numerics);
  compare_columns(a, b, out);
  return out;
}

}  // namespace xtts::maintain
