// Makes a struct of options of the dict that the Python files make. Keys are the names of the
// struct's members; a member without a key keeps its default. Each struct has a table of its rows.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "python/errors.hpp"

namespace xtts::python {

template <typename Options>
struct OptionRow {
  std::string_view name;
  void (*put)(Options& options, nanobind::handle value);
};

template <typename T>
void put_value(T& member, nanobind::handle value) {
  member = nanobind::cast<T>(value);
}
// Paths come as the system's bytes, because a path need not be UTF-8.
inline void put_value(std::string& member, nanobind::handle value) {
  nanobind::bytes path;
  if (nanobind::try_cast(value, path)) {
    member.assign(path.c_str(), path.size());
  } else {
    member = nanobind::cast<std::string>(value);
  }
}
inline void put_value(std::vector<std::string>& member, nanobind::handle value) {
  for (const auto& one : nanobind::cast<std::vector<nanobind::object>>(value))
    put_value(member.emplace_back(), one);
}

template <auto kMember, typename Options>
void put_member(Options& options, nanobind::handle value) {
  put_value(options.*kMember, value);
}

// Throws StatusError with kInvalidArgument for an unknown key, or for a value of the wrong kind.
template <typename Options, std::size_t kCount>
[[nodiscard]] Options options_of(const nanobind::dict& given,
                                 const OptionRow<Options> (&rows)[kCount], std::string_view whose) {
  const auto refused = [](std::string message) {
    return StatusError({StatusCode::kInvalidArgument, std::move(message)});
  };
  Options options;
  for (const auto& [key, value] : given) {
    const auto name = nanobind::cast<std::string>(key);
    const auto* const row = std::ranges::find(rows, name, &OptionRow<Options>::name);
    if (row == std::end(rows))
      throw refused("there is no option '" + name + "' of a " + std::string(whose));
    try {
      row->put(options, value);
    } catch (const nanobind::cast_error&) {
      throw refused("the " + std::string(whose) + "'s option '" + name + "' cannot be " +
                    nanobind::cast<std::string>(nanobind::repr(value)));
    }
  }
  return options;
}

}  // namespace xtts::python
