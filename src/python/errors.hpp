// A Status becomes an exception of the class that xtts_precompute._base.errors has for its code.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "xtts/status.hpp"

namespace xtts::python {

class StatusError : public std::exception {
 public:
  // `kind` is for failures of one code that Python tells apart: the class's name in CLASSES.
  explicit StatusError(Status status, std::string kind = {})
      : status_(std::move(status)),
        kind_(kind.empty() ? std::string(to_string(status_.code())) : std::move(kind)) {}
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const std::string& kind() const noexcept { return kind_; }
  [[nodiscard]] const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
  std::string kind_;
};

// A message as Python's text: paths in it may be any bytes, and those that are no UTF-8 are shown
// as numbers.
[[nodiscard]] nanobind::object to_text(std::string_view message);

// Text out of a cache's index. CorruptError where it is not UTF-8: writers see to that, so such an
// index is forged. Under the GIL.
void must_be_text(std::string_view text, std::string_view what, std::string_view clip_id = {});

inline void must(Status status) {
  if (!status.ok()) throw StatusError(std::move(status));
}

template <typename T>
[[nodiscard]] T must(Result<T> result) {
  if (!result.ok()) throw StatusError(result.status());
  return std::move(*result);
}

void bind_errors();

}  // namespace xtts::python
