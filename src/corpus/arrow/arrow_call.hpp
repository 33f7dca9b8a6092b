// Calls Arrow's library: its failures become values, and its memory is bounded, whatever a hostile
// file says of itself.
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/exception.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "corpus/names.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

// Text columns of some thousand rows take a few MiB.
inline constexpr std::int64_t kArrowBytesMax = std::int64_t{256} << 20U;

// The message continues a sentence that begins with the file.
inline Status damaged(std::string_view reason) {
  constexpr std::size_t kReasonBytes = 200;
  const std::string_view line = reason.substr(0, reason.find('\n'));
  return {StatusCode::kBadInput,
          "is damaged, or not what its name says: " + printable(line.substr(0, kReasonBytes))};
}

inline Status to_status(const arrow::Status& status) {
  if (status.ok()) return {};
  if (status.IsOutOfMemory()) {
    return {StatusCode::kBadInput,
            "asks for more than " +
                counted(static_cast<std::uint64_t>(kArrowBytesMax), "byte", "bytes") +
                " of memory"};
  }
  return damaged(status.message());
}

// Runs `call`, which returns a Status or a Result. The library's exceptions become failures.
template <typename Call>
auto call_arrow(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const parquet::ParquetStatusException& exception) {
    return to_status(exception.status());
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kBadInput, "asks for more memory than there is");
  } catch (const std::exception& exception) {
    return damaged(exception.what());
  }
}

}  // namespace xtts::corpus
