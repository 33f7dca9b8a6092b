// StatusError carries a Status to Python. There it becomes an exception of the class that
// xtts_precompute._base.errors has for its code.
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
  // `kind` is a key of CLASSES. It is given where Python tells failures of one code apart.
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

// Makes Python text of a message. Paths in it may hold any bytes: those that are not UTF-8 are
// shown as numbers.
[[nodiscard]] nanobind::object to_text(std::string_view message);

// Checks text from a cache's index. Throws (CorruptError in Python) where it is not UTF-8: writers
// write UTF-8 only, so such an index is forged or damaged. The caller holds the GIL.
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
