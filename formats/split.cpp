#include "formats/split.hpp"

namespace xtts::formats {

std::string_view to_string(Split split) noexcept {
  switch (split) {
    case Split::kTrain:
      return "train";
    case Split::kValidation:
      return "validation";
    case Split::kTest:
      return "test";
  }
  return "unknown";
}

std::string_view split_name(std::uint8_t number) noexcept {
  return to_string(static_cast<Split>(number));
}

std::optional<Split> split_named(std::string_view name) noexcept {
  for (const Split split : kSplits) {
    if (to_string(split) == name) return split;
  }
  return std::nullopt;
}

}  // namespace xtts::formats
