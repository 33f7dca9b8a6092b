#include "doctor/yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <regex>

namespace xtts::doctor {
namespace {

// PyYAML 6.0, yaml/resolver.py, Resolver.add_implicit_resolver.
const std::regex& int_pattern() {
  static const std::regex pattern(
      "[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+"
      "|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+");
  return pattern;
}
const std::regex& float_pattern() {
  static const std::regex pattern(
      "[-+]?(?:[0-9][0-9_]*)\\.[0-9_]*(?:[eE][-+][0-9]+)?|\\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
      "|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)");
  return pattern;
}

// A longer text is no number, and a regular expression would need too much stack for it.
constexpr std::size_t kNumberBytesMax = 64;

bool matches(std::string_view text, const std::regex& pattern) {
  return text.size() <= kNumberBytesMax && std::regex_match(text.begin(), text.end(), pattern);
}

std::string without_underscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

std::optional<double> decimal(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> to_base(std::string_view digits, int base) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> whole(const std::string& text) {
  std::string_view digits = text;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  std::optional<double> value;
  if (digits.starts_with("0b")) {
    value = to_base(digits.substr(2), 2);
  } else if (digits.starts_with("0x")) {
    value = to_base(digits.substr(2), 16);
  } else if (digits.size() > 1 && digits.starts_with('0')) {
    value = to_base(digits.substr(1), 8);
  } else {
    value = decimal(digits);
  }
  if (value && is_negative) value = -*value;
  return value;
}

}  // namespace

std::optional<bool> bool_of_plain(std::string_view text) {
  constexpr std::array<std::string_view, 9> kYes{"yes",  "Yes", "YES", "true", "True",
                                                 "TRUE", "on",  "On",  "ON"};
  constexpr std::array<std::string_view, 9> kNo{"no",    "No",  "NO",  "false", "False",
                                                "FALSE", "off", "Off", "OFF"};
  if (std::ranges::find(kYes, text) != kYes.end()) return true;
  if (std::ranges::find(kNo, text) != kNo.end()) return false;
  return std::nullopt;
}

ScalarKind kind_of_plain(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return ScalarKind::kNull;
  if (bool_of_plain(text)) return ScalarKind::kBool;
  if (matches(text, int_pattern())) return ScalarKind::kInt;
  if (matches(text, float_pattern())) return ScalarKind::kFloat;
  return ScalarKind::kText;
}

std::optional<double> number_of_plain(std::string_view text) {
  const ScalarKind kind = kind_of_plain(text);
  const std::string digits = without_underscores(text);
  if (kind == ScalarKind::kInt) return whole(digits);
  if (kind == ScalarKind::kFloat) return decimal(digits);
  return std::nullopt;
}

std::string as_float(std::string_view text) {
  if (number_of_plain(text)) return std::string(text);
  if (text.size() > kNumberBytesMax || !decimal(text)) return {};
  const std::size_t at = text.find_first_of("eE");
  std::string mantissa(text.substr(0, at));
  if (mantissa.find('.') == std::string::npos) mantissa += ".0";
  if (mantissa.starts_with('.')) mantissa.insert(0, 1, '0');
  if (mantissa.starts_with("-.")) mantissa.insert(1, 1, '0');
  if (at == std::string_view::npos) return mantissa;
  std::string_view exponent = text.substr(at + 1);
  const char sign = exponent.starts_with('-') ? '-' : '+';
  if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
  return mantissa + "e" + sign + std::string(exponent);
}

std::string as_int(std::string_view text) {
  auto value = number_of_plain(text);
  if (!value) value = text.size() > kNumberBytesMax ? std::nullopt : decimal(text);
  constexpr double kLargest = 9007199254740992.0;  // 2^53: above, doubles skip whole numbers
  if (!value || *value != std::floor(*value) || std::abs(*value) > kLargest) return {};
  return std::to_string(static_cast<std::int64_t>(*value));
}

}  // namespace xtts::doctor
