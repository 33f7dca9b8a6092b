// How a member of a recipe becomes an entry of the key table. Private to that table.
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

// `at` leads from a recipe, const or not, to the value.
template <typename At>
Key scalar_key(At at) {
  using Value = std::remove_cvref_t<decltype(at(std::declval<formats::Recipe&>()))>;
  Key key;
  key.takes = Codec<Value>::takes();
  key.is_number = kIsNumber<Value>;
  key.print = [at](const formats::Recipe& recipe) {
    return std::vector<std::string>{Codec<Value>::print(at(recipe))};
  };
  key.set = [at](formats::Recipe& recipe, const std::vector<Scalar>& values, const FileAccess&) {
    return Codec<Value>::read(values.front(), at(recipe));
  };
  return key;
}

// The same for a list. `read` makes an item of a scalar, or returns what is wrong.
template <typename At, typename Print, typename Read>
Key list_key(At at, std::string takes, Print print, Read read) {
  using List = std::remove_cvref_t<decltype(at(std::declval<formats::Recipe&>()))>;
  Key key;
  key.takes = std::move(takes);
  key.is_list = true;
  key.print = [at, print](const formats::Recipe& recipe) {
    std::vector<std::string> printed;
    for (const auto& item : at(recipe)) printed.push_back(print(item));
    return printed;
  };
  key.set = [at, read](formats::Recipe& recipe, const std::vector<Scalar>& values,
                       const FileAccess&) {
    List items(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string problem = read(values[i], items[i]);
      if (!problem.empty()) return problem;
    }
    at(recipe) = std::move(items);
    return std::string();
  };
  return key;
}

// A key that reads a file, and is never printed: what it says enters other keys.
Key file_key(std::string name, std::string_view about, formats::Condition applies_when, auto set) {
  Key key;
  key.name = std::move(name);
  key.about = about;
  key.takes = "a path";
  key.is_printed = false;
  key.applies_when = applies_when;
  key.print = [](const formats::Recipe&) { return std::vector<std::string>(); };
  key.set = std::move(set);
  key.reset = [](formats::Recipe&) {};
  return key;
}

}  // namespace xtts::recipe
