// What the public classes share behind their headers.
#pragma once

#include <memory>
#include <string>

#include "base/current_exception.hpp"
#include "reader/cache_set.hpp"
#include "xtts/reader.hpp"

namespace xtts {

struct Cache::Impl {
  std::shared_ptr<reader::CacheSet> caches;

  [[nodiscard]] const formats::Manifest& first() const { return caches->first()->manifest(); }
};

namespace api {

// Exceptions stop here: what is left of them below is memory running out.
template <typename Call>
auto guarded(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return status_of_current_exception();
  }
}

// Numbers in memory that begins where every element type may begin.
template <typename T>
Result<std::span<const T>> as_numbers(std::span<const std::byte> bytes, DType found, DType wanted) {
  if (found != wanted) {
    return Status(StatusCode::kMismatch, "the numbers are " + std::string(to_string(found)) +
                                             ", not " + std::string(to_string(wanted)));
  }
  return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
}

}  // namespace api
}  // namespace xtts
