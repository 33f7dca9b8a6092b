// How the entries of the key table are made. Private to the files that list keys.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "recipe/key_codec.hpp"
#include "recipe/key_table.hpp"

namespace xtts::recipe {

template <typename Value>
inline constexpr bool kIsNumber = std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>;
template <>
inline constexpr bool kIsNumber<formats::RecordLength> = true;
template <typename Value>
inline constexpr bool kIsNumber<std::optional<Value>> = kIsNumber<Value>;

// `access` leads from a recipe, const or not, to the value.
template <typename Access>
Key scalar_key(std::string name, Access access, std::string_view about,
               Condition applies_when = {}) {
  using Value = std::remove_cvref_t<decltype(access(std::declval<formats::Recipe&>()))>;
  Key key;
  key.name = std::move(name);
  key.about = about;
  key.takes = Codec<Value>::takes();
  key.is_number = kIsNumber<Value>;
  key.applies_when = std::move(applies_when);
  key.print = [access](const formats::Recipe& recipe) {
    return std::vector<std::string>{Codec<Value>::print(access(recipe))};
  };
  key.set = [access](formats::Recipe& recipe, const std::vector<Scalar>& values,
                     const FileAccess&) {
    return Codec<Value>::read(values.front(), access(recipe));
  };
  key.reset = [access](formats::Recipe& recipe) {
    const formats::Recipe defaults = default_recipe();
    access(recipe) = access(defaults);
  };
  return key;
}

// The same for a list of numbers.
template <typename Access>
Key numbers_key(std::string name, Access access, std::string_view about, Condition applies_when) {
  Key key;
  key.name = std::move(name);
  key.about = about;
  key.takes = "a list of numbers";
  key.is_number = true;
  key.is_list = true;
  key.applies_when = std::move(applies_when);
  key.print = [access](const formats::Recipe& recipe) {
    std::vector<std::string> printed;
    for (const double number : access(recipe)) printed.push_back(Codec<double>::print(number));
    return printed;
  };
  key.set = [access](formats::Recipe& recipe, const std::vector<Scalar>& values,
                     const FileAccess&) {
    std::vector<double> numbers(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string problem = Codec<double>::read(values[i], numbers[i]);
      if (!problem.empty()) return problem;
    }
    access(recipe) = std::move(numbers);
    return std::string();
  };
  key.reset = [access](formats::Recipe& recipe) { access(recipe).clear(); };
  return key;
}

}  // namespace xtts::recipe

#define XTTS_AT(path)         \
  [](auto& recipe) -> auto& { \
    return recipe.path;       \
  }

// Of a key that is called as the recipe's member is.
#define XTTS_KEY(path, ...) scalar_key(#path, XTTS_AT(path), __VA_ARGS__)
