// What the public functions of the builder check before they begin: texts and paths that no system
// takes, structs of other headers, objects that were moved from. Pure functions, any thread.
// Failures: kInvalidArgument, kUnsupported.
#pragma once

#include <cstddef>
#include <string_view>

#include "xtts/add_column.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::builder {

// A zero byte in a text, a path that is too long, or one that is missing is refused by the option's
// name.
enum class Paths { kNone, kData, kDataAndCache };
[[nodiscard]] Status check_texts(const BuildOptions& options, Paths needed);
[[nodiscard]] Status check_texts(const VerifyOptions& options);
[[nodiscard]] Status check_texts(const NewColumnOptions& options);

[[nodiscard]] Status check_size(std::string_view what, std::size_t given, std::size_t expected);
// Of something that was moved from.
[[nodiscard]] Status is_empty(std::string_view what);

}  // namespace xtts::builder
