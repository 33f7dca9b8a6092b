// A Status becomes an exception of the class that xtts_precompute._errors has for its code.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <utility>

#include "xtts/status.hpp"

namespace xtts::python {

class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)) {}
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
};

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
