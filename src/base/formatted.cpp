#define FMT_HEADER_ONLY  // for this file alone, so nothing links to {fmt}'s library

#include "base/formatted.hpp"

#include <fmt/format.h>

namespace xtts::detail {

std::string format_values(fmt::string_view text, fmt::format_args values) {
  return fmt::vformat(text, values);
}

}  // namespace xtts::detail
