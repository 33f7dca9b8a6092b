#include "xtts/status.hpp"

namespace xtts {

std::string_view to_string(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kBadInput:
      return "bad input";
    case StatusCode::kSourceIo:
      return "source I/O";
    case StatusCode::kCorrupt:
      return "corrupt";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kMismatch:
      return "mismatch";
    case StatusCode::kBusy:
      return "busy";
    case StatusCode::kResource:
      return "resource";
    case StatusCode::kTooManyRejects:
      return "too many rejects";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kInternal:
      return "internal";
    case StatusCode::kCrashed:
      return "crashed";
  }
  return "unknown";
}

Status Status::with_context(std::string_view operation) const {
  if (ok()) return *this;
  std::string text(operation);
  text += ": ";
  text += message_;
  return {code_, std::move(text)};
}

}  // namespace xtts
