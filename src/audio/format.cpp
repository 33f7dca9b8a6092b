#include "audio/format.hpp"

namespace xtts::audio {

std::string_view to_string(FormatUse use) noexcept {
  switch (use) {
    case FormatUse::kRead:
      return "read";
    case FormatUse::kReadBySuffix:
      return "read by suffix";
    case FormatUse::kRefused:
      return "refused";
    case FormatUse::kNotAudio:
      return "not audio";
  }
  return "unknown";
}

}  // namespace xtts::audio
