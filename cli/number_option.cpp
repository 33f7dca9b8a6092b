#include "cli/number_option.hpp"

#include <charconv>
#include <cstdint>

#include "base/formatted.hpp"
#include "report/human.hpp"

namespace xtts::cli {

Result<double> parse_number_option(const std::string& option, const std::string& text, double low,
                                   double high) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number >= low && number <= high) return number;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is a number from {} to {}, not '{}'", option,
                          report::format_count(static_cast<std::uint64_t>(low)),
                          report::format_count(static_cast<std::uint64_t>(high)), text));
}

}  // namespace xtts::cli
