// The checks of the builder's public functions before they begin. They refuse texts and paths that
// no system takes, structs of other headers, and objects that were moved from. Pure functions, any
// thread. Failures: kInvalidArgument, kUnsupported.
#pragma once

#include <cstddef>
#include <string_view>

#include "xtts/add_column.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::builder {

// Refuses a text with a zero byte, a path that is too long, and a missing path. The message names
// the option.
enum class Paths { kNone, kData, kDataAndCache };
[[nodiscard]] Status check_texts(const BuildOptions& options, Paths needed);
[[nodiscard]] Status check_texts(const VerifyOptions& options);
[[nodiscard]] Status check_texts(const NewColumnOptions& options);

[[nodiscard]] Status check_size(std::string_view what, std::size_t given, std::size_t expected);
// The failure of an object that was moved from.
[[nodiscard]] Status is_empty(std::string_view what);

}  // namespace xtts::builder
