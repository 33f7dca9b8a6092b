#include "cli/number_option.hpp"

#include <charconv>
#include <cstdint>

#include "report/human.hpp"

namespace xtts::cli {

Result<double> parse_number_option(const std::string& option, const std::string& text, double low,
                                   double high) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number >= low && number <= high) return number;
  return Status(
      StatusCode::kInvalidArgument,
      option + " is a number from " + report::format_count(static_cast<std::uint64_t>(low)) +
          " to " + report::format_count(static_cast<std::uint64_t>(high)) + ", not '" + text + "'");
}

}  // namespace xtts::cli
