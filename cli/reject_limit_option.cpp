#include "cli/reject_limit_option.hpp"

#include <charconv>

namespace xtts::cli {

Result<pipeline::RejectLimit> parse_reject_limit(const std::string& text) {
  pipeline::RejectLimit limit;
  const char* const end = text.data() + text.size();
  if (text.ends_with('%')) {
    double percent = 0.0;
    const auto [rest, error] = std::from_chars(text.data(), end - 1, percent);
    if (error == std::errc() && rest == end - 1 && percent >= 0.0 && percent <= 100.0) {
      limit.share = percent / 100.0;
      return limit;
    }
  } else {
    std::uint64_t count = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc() && rest == end) {
      limit.count = count;
      return limit;
    }
  }
  return Status(StatusCode::kInvalidArgument,
                "--max-rejects '" + text + "': a number of clips, or a share such as 5%");
}

}  // namespace xtts::cli
