// The style sheet of an HTML page. A constant.
#pragma once

#include <string_view>

namespace xtts::report {

// Has no "<" and no "&", so that it may stand in a style element of XML.
[[nodiscard]] std::string_view html_style() noexcept;

}  // namespace xtts::report
