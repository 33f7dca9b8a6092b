// Turns the exception being handled into a Status, at the edges where exceptions stop. Call it in
// a catch block. It allocates nothing where memory has run out, so that it cannot throw itself.
#pragma once

#include <exception>
#include <new>
#include <system_error>

#include "base/formatted.hpp"
#include "xtts/status.hpp"

namespace xtts {

[[nodiscard]] inline Status status_of_current_exception() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return {StatusCode::kResource, "out of memory"};
    } catch (const std::system_error& error) {  // a thread that the system refuses
      return {StatusCode::kResource,
              formatted("no thread can be started: {}. Raise the limit of processes (ulimit -u) or "
                        "of memory (ulimit -v), or give fewer threads",
                        error.what())};
    } catch (const std::exception& error) {
      return {StatusCode::kInternal, error.what()};
    }
  } catch (...) {
    return {StatusCode::kInternal, "exception"};  // short enough to need no memory
  }
}

}  // namespace xtts
