// Status and Result<T>: how every part of xtts-precompute reports a failure.
//
// Errors are values. A broken clip among 300,000 is data: it is counted, reported and skipped. The
// codes are chosen by the caller's next step. The message carries operation, path, offset and the
// library's own words. Immutable; share freely.
//
// We have our own Result<T> because installed headers may not require third-party ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "xtts/export.hpp"

namespace xtts {

// The caller's next step. The command line's exit codes follow from these and are an API:
// README.md lists them.
enum class StatusCode : std::uint8_t {
  kOk = 0,
  kInvalidArgument,  // fix the call, the config or the recipe
  kNotFound,         // ask for something that exists
  kBadInput,         // skip this clip: the same bytes will fail again
  kSourceIo,         // skip this clip now, try it again in the next build
  kCorrupt,          // the cache is damaged: verify, repair
  kUnsupported,      // a newer format or a part that this build lacks
  kMismatch,         // the cache was made by another recipe, or is another generation
  kBusy,             // another builder holds the cache
  kResource,         // disk, memory or I/O: make room, then run the same command again
  kTooManyRejects,   // look at the rejects, or raise the limit
  kCancelled,        // a signal or the caller asked to stop
  kInternal,         // a defect of ours
  kCrashed,          // skip this clip for good: a codec crashed on it
};

[[nodiscard]] XTTS_API std::string_view to_string(StatusCode code) noexcept;

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const noexcept { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

  // The failure with its context in front: "reading a.wav: <message>".
  [[nodiscard]] XTTS_API Status with_context(std::string_view operation) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the reason why there is none. Reading the value of a failed result is undefined, as
// for std::expected, which replaces this class in C++23.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: as std::expected
  Result(Status failure)
      : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT: as std::expected

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const& noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] T& operator*() & noexcept { return value(); }
  [[nodiscard]] const T& operator*() const& noexcept { return value(); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  [[nodiscard]] Status status() const { return ok() ? Status() : *std::get_if<1>(&state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace xtts
