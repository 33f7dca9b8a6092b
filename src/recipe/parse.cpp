// YAML tree -> Recipe, by the table of keys. Every problem of the file is collected before anything
// is refused.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "recipe/key_table.hpp"
#include "recipe/message.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

using formats::Recipe;
using Kind = YamlNode::Kind;

class RecipeReader {
 public:
  RecipeReader(const FileAccess& files, std::string_view origin) : files_(files), origin_(origin) {}

  Result<Recipe> read(const YamlNode& root) {
    recipe_.name = std::string(file_stem(origin_));
    read_section(root, "");
    refuse_ignored_keys();
    if (problems_.empty()) add_invalid_values();
    if (!problems_.empty()) return Status(StatusCode::kInvalidArgument, report());
    return std::move(recipe_);
  }

 private:
  void read_section(const YamlNode& section, const std::string& prefix) {
    for (const YamlEntry& entry : section.entries) {
      const std::string name = prefix + entry.key;
      if (const auto [first, is_new] = line_of_.emplace(name, entry.line); !is_new) {
        add(entry.line, formatted("{}: given twice, first on line {}", name, first->second));
      } else if (const Key* key = find_key(name)) {
        read_value(*key, entry);
      } else if (!is_section(name)) {
        add(entry.line, formatted("{}: unknown key{}", name, suggest_key(name)));
      } else if (entry.value.kind == Kind::kNull) {
        continue;  // all its keys are commented out
      } else if (entry.value.kind != Kind::kMap) {
        add(entry.line, formatted("{}: a section of keys, found {}", name, describe(entry.value)));
      } else {
        read_section(entry.value, name + ".");
      }
    }
  }

  void read_value(const Key& key, const YamlEntry& entry) {
    const auto values = scalars_of(entry.value, key.is_list);
    if (!values) {
      add(entry.line,
          formatted("{}: takes {}, found {}", key.name, key.takes, describe(entry.value)));
      return;
    }
    if (const std::string problem = key.set(recipe_, *values, files_); !problem.empty()) {
      add(entry.line, formatted("{}: {}", key.name, problem));
    }
  }

  static std::optional<std::vector<Scalar>> scalars_of(const YamlNode& node, bool is_list) {
    if (node.kind != (is_list ? Kind::kList : Kind::kScalar)) return std::nullopt;
    const auto scalar = [](const YamlNode& item) {
      return Scalar{item.text, item.quoted ? ScalarForm::kQuoted : ScalarForm::kPlain};
    };
    if (!is_list) return std::vector<Scalar>{scalar(node)};
    std::vector<Scalar> values;
    for (const YamlNode& item : node.items) {
      if (item.kind != Kind::kScalar) return std::nullopt;
      values.push_back(scalar(item));
    }
    return values;
  }

  // After all keys are read, because a switch may stand below what it switches.
  void refuse_ignored_keys() {
    for (const auto& [name, line] : line_of_) {
      const Key* key = find_key(name);
      if (key == nullptr) continue;
      if (const std::string reason = why_ignored(*key, recipe_); !reason.empty()) {
        add(line, formatted("{}: ignored, because {}", name, reason));
      }
    }
    const auto inline_one = line_of_.find("text.vocabulary");
    const auto file_one = line_of_.find("text.vocabulary_file");
    if (inline_one != line_of_.end() && file_one != line_of_.end()) {
      add(file_one->second,
          formatted("text.vocabulary_file: text.vocabulary is given too, on line {}",
                    inline_one->second));
    }
  }

  void add_invalid_values() {
    for (const std::string& problem : problems_of(recipe_)) add(line_of_problem(problem), problem);
  }

  // A problem begins with its key, or with two: "features.mel.f_max_hz, sample_rate_hz: ...". Line
  // 0: none of them is written in the file.
  [[nodiscard]] std::uint32_t line_of_problem(std::string_view problem) const {
    std::string_view keys = problem.substr(0, problem.find(':'));
    const std::string section(keys.substr(0, keys.find('.') + 1));
    bool first = true;
    while (!keys.empty()) {
      const std::size_t comma = keys.find(", ");
      const std::string name = (first ? "" : section) + std::string(keys.substr(0, comma));
      if (const auto found = line_of_.find(name); found != line_of_.end()) return found->second;
      keys = comma == std::string_view::npos ? std::string_view() : keys.substr(comma + 2);
      first = false;
    }
    return 0;
  }

  void add(std::uint32_t line, std::string problem) {
    problems_.emplace_back(line, std::move(problem));
  }

  std::string report() {
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> lines;
    for (const auto& [line, problem] : problems_) {
      const std::string place = line == 0 ? "" : formatted(":{}", line);
      lines.push_back(formatted("{}{}: {}", origin_, place, problem));
    }
    return join_lines(lines);
  }

  const FileAccess& files_;
  std::string_view origin_;
  Recipe recipe_ = default_recipe();
  std::map<std::string, std::uint32_t> line_of_;
  std::vector<std::pair<std::uint32_t, std::string>> problems_;
};

}  // namespace

Result<Recipe> parse(Env& env, std::string_view yaml, std::string_view origin,
                     const std::string& folder) {
  XTTS_ASSIGN(const YamlNode root, read_yaml_map(yaml, origin));
  const FileAccess files{env, folder};
  return RecipeReader(files, origin).read(root);
}

}  // namespace xtts::recipe
