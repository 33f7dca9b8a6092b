// formatted("{} has {} bytes", path, size) makes a text. The compiler checks its braces. Join two
// texts by + as ever.
#pragma once

#include <fmt/core.h>

#include <string>

namespace xtts {
namespace detail {
// Apart, because the header with {fmt}'s work in it costs each file two seconds to compile.
[[nodiscard]] std::string format_values(fmt::string_view text, fmt::format_args values);
}  // namespace detail

template <typename... Values>
[[nodiscard]] std::string formatted(fmt::format_string<Values...> text, Values&&... values) {
  return detail::format_values(text, fmt::make_format_args(values...));
}

}  // namespace xtts
