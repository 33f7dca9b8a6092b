#include "api/c/capi_entry.hpp"

#include <algorithm>
#include <cstring>

namespace xtts::capi {

static_assert(XTTS_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(XTTS_NOT_FOUND == static_cast<int>(StatusCode::kNotFound));
static_assert(XTTS_SOURCE_IO == static_cast<int>(StatusCode::kSourceIo));
static_assert(XTTS_CORRUPT == static_cast<int>(StatusCode::kCorrupt));
static_assert(XTTS_UNSUPPORTED == static_cast<int>(StatusCode::kUnsupported));
static_assert(XTTS_MISMATCH == static_cast<int>(StatusCode::kMismatch));
static_assert(XTTS_BUSY == static_cast<int>(StatusCode::kBusy));
static_assert(XTTS_RESOURCE == static_cast<int>(StatusCode::kResource));
static_assert(XTTS_CANCELLED == static_cast<int>(StatusCode::kCancelled));
static_assert(XTTS_INTERNAL == static_cast<int>(StatusCode::kInternal));

void copy_text(std::string_view text, char* out, std::size_t size_bytes) {
  if (size_bytes == 0) return;
  std::size_t count = std::min(text.size(), size_bytes - 1);
  const auto goes_on = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  // A character has at most three further bytes; text with more of them is not UTF-8.
  for (int i = 0; i < 3 && count > 0 && count < text.size() && goes_on(count); ++i) --count;
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

xtts_code report_status(xtts_error* error, StatusCode code, std::string_view message) {
  if (error != nullptr) {
    error->code = static_cast<xtts_code>(code);
    copy_text(message, error->message, sizeof error->message);
  }
  return static_cast<xtts_code>(code);
}

Status missing_argument(std::string_view what) {
  return {StatusCode::kInvalidArgument, std::string(what) + " is NULL"};
}

}  // namespace xtts::capi
