// Reads the number of an option. Pure.
#pragma once

#include <string>

#include "xtts/status.hpp"

namespace xtts::cli {

// kInvalidArgument: `text` is no number from `low` to `high`; the message names the option.
[[nodiscard]] Result<double> parse_number_option(const std::string& option, const std::string& text,
                                                 double low, double high);

}  // namespace xtts::cli
