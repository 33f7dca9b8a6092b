// guarded() stops the exceptions of the builder's classes. Any thread.
#pragma once

#include "base/current_exception.hpp"
#include "base/no_cancellation.hpp"
#include "base/option_names.hpp"

namespace xtts::builder {

// No exception passes this call. Messages name options as code writes them.
template <typename Call>
auto guarded(Call call) noexcept -> decltype(call()) {
  const NoCancellation no_cancellation;
  name_options_as(OptionNames::kFields);
  try {
    return call();
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace xtts::builder
