// Helpers that the public classes share behind their headers.
#pragma once

#include <memory>

#include "base/check_text.hpp"
#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/no_cancellation.hpp"
#include "reader/cache_set.hpp"
#include "xtts/reader.hpp"

namespace xtts {

struct Cache::Impl {
  std::shared_ptr<reader::CacheSet> caches;

  [[nodiscard]] const formats::Manifest& whole() const { return caches->whole(); }
};

namespace api {

// The failure of an object that was moved from.
[[nodiscard]] inline Status is_empty(std::string_view what) {
  return {StatusCode::kInvalidArgument,
          formatted("this {} was moved from: use the one that it was moved to", what)};
}

// Refuses a program that was built against other headers.
[[nodiscard]] inline Status check_size(std::string_view what, std::size_t given,
                                       std::size_t expected) {
  if (given == expected) return {};
  return {StatusCode::kUnsupported,
          formatted("{} has {} bytes where the program was built, and {} in this library: build it "
                    "against this one's headers",
                    what, given, expected)};
}

// No exception passes this call. The only one left below is that memory runs out.
template <typename Call>
auto guarded(Call call) -> decltype(call()) {
  const NoCancellation no_cancellation;
  try {
    return call();
  } catch (...) {
    return status_of_current_exception();
  }
}

// Numbers in memory whose alignment suits every element type.
template <typename T>
Result<std::span<const T>> as_numbers(std::span<const std::byte> bytes, DType found, DType wanted) {
  if (found != wanted) {
    return Status(StatusCode::kMismatch,
                  formatted("the record holds {}, not {}", to_string(found), to_string(wanted)));
  }
  return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
}

}  // namespace api
}  // namespace xtts
