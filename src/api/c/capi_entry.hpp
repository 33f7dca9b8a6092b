// The common part of the C entries: what their handles hold, and how they report failures. Every
// entry catches exceptions: memory may run out while a result is put together.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/no_cancellation.hpp"
#include "xtts/batch.hpp"
#include "xtts/reader.hpp"
#include "xtts/xtts.h"

struct xtts_cache {
  explicit xtts_cache(xtts::Cache opened)
      : cache(std::move(opened)), digest(cache.digest()), columns(cache.columns()) {}

  xtts::Cache cache;
  std::string digest;
  std::vector<xtts::ColumnInfo> columns;
};

struct xtts_reader {
  xtts::Reader reader;
};

namespace xtts::capi {

// Copies text, cut at `size_bytes` between two characters. A 0 always ends it.
void copy_text(std::string_view text, char* out, std::size_t size_bytes);

// Writes a Status into `error`, if there is one, and returns its code.
xtts_code report_status(xtts_error* error, StatusCode code, std::string_view message);

// Runs `call`, which returns a Status, and reports its failure.
template <typename Call>
xtts_code at_entry(xtts_error* error, Call call) noexcept {
  const xtts::NoCancellation no_cancellation;
  try {
    const Status status = call();
    return report_status(error, status.code(), status.message());
  } catch (const std::bad_alloc&) {
    return report_status(error, StatusCode::kResource, "out of memory");
  } catch (const std::exception& failure) {
    return report_status(error, StatusCode::kInternal, failure.what());
  } catch (...) {
    return report_status(error, StatusCode::kInternal, "an exception of another kind");
  }
}

// The failure of an argument that must not be NULL.
[[nodiscard]] Status missing_argument(std::string_view what);

}  // namespace xtts::capi
