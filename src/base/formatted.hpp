// formatted("{} has {} bytes", path, size) makes a text. The compiler checks its braces. Join two
// texts by + as ever.
#pragma once

#if __has_include(<fmt/base.h>)
#include <fmt/base.h>
#else
#include <fmt/core.h>  // before {fmt} 11
#endif

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
