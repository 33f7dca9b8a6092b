#include "query/expression.hpp"

#include <algorithm>

#include "formats/clip_id.hpp"
#include "query/node.hpp"

namespace xtts::query {
namespace {

template <typename T>
bool holds(Comparison comparison, const T& left, const T& right) {
  switch (comparison) {
    case Comparison::kEqual:
      return left == right;
    case Comparison::kNotEqual:
      return left != right;
    case Comparison::kLess:
      return left < right;
    case Comparison::kLessEqual:
      return left <= right;
    case Comparison::kGreater:
      return left > right;
    case Comparison::kGreaterEqual:
      return left >= right;
  }
  return false;
}

bool is_set(const FieldValue& value) {
  if (const double* number = std::get_if<double>(&value)) return *number != 0.0;
  if (const auto* text = std::get_if<std::string_view>(&value)) return !text->empty();
  if (const auto* rules = std::get_if<RuleNames>(&value)) return !rules->empty();
  const bool* flag = std::get_if<bool>(&value);
  return flag != nullptr && *flag;
}

bool any_name(RuleNames rules, const auto& holds_for) {
  return std::ranges::any_of(
      rules, [&](const formats::Reason& reason) { return holds_for(formats::name_of(reason)); });
}

bool compare(const Node& node, const FieldValue& value) {
  if (const double* number = std::get_if<double>(&value)) {
    return holds(node.comparison, *number, std::get<double>(node.value));
  }
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    return holds(node.comparison, *text, std::string_view(std::get<std::string>(node.value)));
  }
  if (const bool* flag = std::get_if<bool>(&value)) {
    return holds(node.comparison, *flag, std::get<bool>(node.value));
  }
  if (const auto* rules = std::get_if<RuleNames>(&value)) {
    const std::string_view asked = std::get<std::string>(node.value);
    // `!=` is the opposite of `==`: true if no rule of the clip has the name.
    if (node.comparison == Comparison::kNotEqual)
      return !any_name(*rules, [&](std::string_view name) { return name == asked; });
    return any_name(*rules,
                    [&](std::string_view name) { return holds(node.comparison, name, asked); });
  }
  return false;  // unknown
}

bool match(const Node& node, const FieldValue& value) {
  if (const auto* rules = std::get_if<RuleNames>(&value)) {
    return any_name(*rules, [&](std::string_view name) { return node.pattern->found_in(name); });
  }
  const auto* text = std::get_if<std::string_view>(&value);
  return text != nullptr && node.pattern->found_in(*text);
}

// An id is tried with its data set in front, too: `==` and `~` ask for either form, `!=` for
// neither.
bool test(const Node& node, const Clip& clip, bool (*holds_for)(const Node&, const FieldValue&)) {
  const bool holds = holds_for(node, node.field->get(clip));
  if (!node.field->has_full_form || clip.facts.dataset.value_or("").empty()) return holds;
  const auto holds_in_full = [&] {
    const std::string full = formats::full_id(clip.facts);
    return holds_for(node, std::string_view(full));
  };
  const Comparison asked = node.kind == NodeKind::kMatch ? Comparison::kEqual : node.comparison;
  if (asked == Comparison::kEqual) return holds || holds_in_full();
  if (asked == Comparison::kNotEqual) return holds && holds_in_full();
  return holds;
}

bool evaluate(const Node& node, const Clip& clip) {
  const auto holds_for = [&](const Node& child) { return evaluate(child, clip); };
  switch (node.kind) {
    case NodeKind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), holds_for);
    case NodeKind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), holds_for);
    case NodeKind::kNot:
      return !evaluate(node.children.front(), clip);
    case NodeKind::kIsSet:
      return is_set(node.field->get(clip));
    case NodeKind::kCompare:
      return test(node, clip, compare);
    case NodeKind::kMatch:
      return test(node, clip, match);
  }
  return false;
}

bool uses_facts(const Node& node) {
  if (node.field != nullptr) return node.field->source == FieldSource::kFacts;
  return std::any_of(node.children.begin(), node.children.end(), uses_facts);
}

bool uses_sound(const Node& node) {
  if (node.field != nullptr) return !is_of_lists(*node.field);
  return std::any_of(node.children.begin(), node.children.end(), uses_sound);
}

}  // namespace

bool Expression::matches(const Clip& clip) const {
  return evaluate(*root_, clip);
}

bool Expression::needs_facts() const noexcept {
  return uses_facts(*root_);
}

bool Expression::needs_sound() const noexcept {
  return uses_sound(*root_);
}

Tables Tables::of(const formats::Manifest& manifest) {
  Tables tables;
  tables.datasets = manifest.datasets;
  tables.speakers = manifest.speakers;
  tables.languages = manifest.languages;
  // Checks each type: a later version of the section may have moved its keys.
  const nlohmann::json& features = manifest.features;
  const auto rate = features.is_object() ? features.find("sample_rate_hz") : features.end();
  const auto stft = features.is_object() ? features.find("stft") : features.end();
  if (rate == features.end() || stft == features.end() || !rate->is_number() ||
      !stft->is_object()) {
    return tables;
  }
  const auto hop = stft->find("hop_samples");
  if (hop == stft->end() || !hop->is_number() || rate->get<double>() <= 0.0) return tables;
  tables.frame_s = hop->get<double>() / rate->get<double>();
  return tables;
}

}  // namespace xtts::query
