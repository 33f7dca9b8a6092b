// How each type of a recipe's values is read and printed, one Codec a type. Numbers by from_chars
// and to_chars: shortest form, exact in both directions, whatever the locale. Pure functions.
// `read` returns an empty string, or what is wrong with the value.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "base/formatted.hpp"
#include "formats/enum_names.hpp"
#include "formats/recipe.hpp"

namespace xtts::recipe {

// kPlain and kQuoted as YAML tells them apart ("80" is a text, 80 a number); kArgument came from a
// command line, where quotes are the shell's.
enum class ScalarForm : std::uint8_t { kPlain, kQuoted, kArgument };

struct Scalar {
  std::string text;
  ScalarForm form = ScalarForm::kPlain;
};

// A text as a double-quoted YAML scalar. `text` is UTF-8.
[[nodiscard]] std::string quote_yaml(std::string_view text);

template <typename T>
struct Codec;

// "mean | first"
[[nodiscard]] std::string list_names(const auto& names) {
  std::string list;
  for (const auto& entry : names) list += (list.empty() ? "" : " | ") + std::string(entry.name);
  return list;
}

template <typename E>
requires std::is_enum_v<E>
struct Codec<E> {
  static std::string takes() { return list_names(formats::enum_names(E{})); }
  static std::string print(E value) { return std::string(formats::name_of(value)); }
  static std::string read(const Scalar& scalar, E& out) {
    const std::optional<E> value = formats::parse_enum<E>(scalar.text);
    if (!value) return formatted("'{}' is none of {}", scalar.text, takes());
    out = *value;
    return {};
  }
};

// The element types that features may have on disk.
template <>
struct Codec<DType> {
  static std::string takes() { return "float32 | float16 | bfloat16"; }
  static std::string print(DType value) { return std::string(to_string(value)); }
  static std::string read(const Scalar& scalar, DType& out) {
    const std::optional<DType> value = parse_dtype(scalar.text);
    const bool known =
        value == DType::kFloat32 || value == DType::kFloat16 || value == DType::kBFloat16;
    if (!known) return formatted("'{}' is none of {}", scalar.text, takes());
    out = *value;
    return {};
  }
};

template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) struct Codec<T> {
  static std::string takes() { return "a whole number"; }
  static std::string print(T value) { return std::to_string(value); }
  static std::string read(const Scalar& scalar, T& out) {
    const char* const end = scalar.text.data() + scalar.text.size();
    T value = 0;
    const auto [stop, error] = std::from_chars(scalar.text.data(), end, value);
    if (error == std::errc::result_out_of_range && stop == end) {
      return scalar.text + " is too large";
    }
    if (scalar.form == ScalarForm::kQuoted || error != std::errc() || stop != end) {
      return formatted("'{}' is not {}", scalar.text, takes());
    }
    out = value;
    return {};
  }
};

template <>
struct Codec<double> {
  static std::string takes() { return "a number"; }
  static std::string print(double value) {
    std::array<char, 32> buffer{};
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
  }
  static std::string read(const Scalar& scalar, double& out) {
    const char* const end = scalar.text.data() + scalar.text.size();
    double value = 0.0;
    const auto [stop, error] = std::from_chars(scalar.text.data(), end, value);
    const bool whole = error == std::errc() && stop == end && std::isfinite(value);
    if (scalar.form == ScalarForm::kQuoted || !whole)
      return formatted("'{}' is not a number", scalar.text);
    out = value;
    return {};
  }
};

template <>
struct Codec<bool> {
  static std::string takes() { return "true | false"; }
  static std::string print(bool value) { return value ? "true" : "false"; }
  static std::string read(const Scalar& scalar, bool& out) {
    const bool known = scalar.text == "true" || scalar.text == "false";
    if (scalar.form == ScalarForm::kQuoted || !known) {
      return formatted("'{}' is neither true nor false", scalar.text);
    }
    out = scalar.text == "true";
    return {};
  }
};

template <>
struct Codec<std::string> {
  static std::string takes() { return "a text"; }
  static std::string print(const std::string& value) { return quote_yaml(value); }
  static std::string read(const Scalar& scalar, std::string& out) {
    out = scalar.text;
    return {};
  }
};

template <>
struct Codec<formats::RecordLength> {
  static std::string takes() { return "a whole number | auto | N+: auto, but at least N"; }
  static std::string print(const formats::RecordLength& value) { return to_string(value); }
  static std::string read(const Scalar& scalar, formats::RecordLength& out) {
    const auto value = formats::parse_record_length(scalar.text);
    // A number that is too large, or quoted, is refused in the words of numbers.
    if (value && value->is_of_corpus()) {
      out = *value;
      return {};
    }
    std::uint32_t number = 0;
    std::string problem = Codec<std::uint32_t>::read(scalar, number);
    if (problem.empty()) out = number;
    return problem.ends_with(Codec<std::uint32_t>::takes())
               ? formatted("'{}' is none of {}", scalar.text, takes())
               : problem;
  }
};

// "auto" and "none" rather than an absent key: every key can be printed and set back.
template <typename T>
struct Codec<std::optional<T>> {
  static constexpr std::string_view kUnset = std::is_enum_v<T> ? "auto" : "none";
  static std::string takes() { return std::string(kUnset) + " | " + Codec<T>::takes(); }
  static std::string print(const std::optional<T>& value) {
    return value ? Codec<T>::print(*value) : std::string(kUnset);
  }
  static std::string read(const Scalar& scalar, std::optional<T>& out) {
    out.reset();
    if (scalar.text == kUnset) return {};
    T value{};
    std::string problem = Codec<T>::read(scalar, value);
    if (!problem.empty()) return formatted("'{}' is not {}", scalar.text, takes());
    out = value;
    return {};
  }
};

}  // namespace xtts::recipe
