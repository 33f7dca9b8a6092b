// A shortage is a failure because this process has too few descriptors or too little memory. It
// says nothing about the file that was asked for, so no caller may call the file damaged or reject
// it. A separate StatusCode would not help callers: all of them end the run (kResource).
//
// The count covers the whole process since its start; atomic. Code that judges a file reads the
// count before and after.
#pragma once

#include <cstdint>

namespace xtts {

[[nodiscard]] std::uint64_t shortage_count() noexcept;
// Counts a shortage if `error` (an errno) is one.
void note_shortage(int error) noexcept;

}  // namespace xtts
