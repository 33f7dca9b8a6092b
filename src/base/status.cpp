#include "xtts/status.hpp"

#include <array>
#include <cstddef>

namespace xtts {

namespace {

// Indexed by the codes' values.
constexpr auto kCodeNames = std::to_array<std::string_view>(
    {"ok", "invalid argument", "not found", "bad input", "source I/O", "corrupt", "unsupported",
     "mismatch", "busy", "resource", "too many rejects", "cancelled", "internal", "crashed"});
static_assert(kCodeNames.size() == static_cast<std::size_t>(StatusCode::kCrashed) + 1);

}  // namespace

std::string_view to_string(StatusCode code) noexcept {
  const auto number = static_cast<std::size_t>(code);
  return number < kCodeNames.size() ? kCodeNames[number] : "unknown";
}

Status Status::with_context(std::string_view operation) const {
  if (ok()) return *this;
  std::string text(operation);
  text += ": ";
  text += message_;
  return {code_, std::move(text)};
}

}  // namespace xtts
