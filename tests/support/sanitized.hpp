// Tests that take all combinations of what they vary take few under a sanitizer, which makes them
// three to ten times as long: the plain run has had the others.
#pragma once

#include <cstdint>

namespace xtts::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

// Loops that interrupt a program at every call take one call in so many.
inline constexpr std::uint64_t kCallStep = kIsSanitized ? 7 : 1;

}  // namespace xtts::testing
