// What verify has found, in words: the one place where a finding, a mended file or a remedy becomes
// a sentence. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "verify/verify.hpp"

namespace xtts::request {

// "changed source", as --json has it: `source_changed`. Unique.
[[nodiscard]] std::string_view name_of(verify::Sign sign) noexcept;

// "4,096 bytes"; empty for nothing.
[[nodiscard]] std::string words_of(const verify::Evidence& evidence);
// What is wrong: "block header", "unreadable record", "not mended, shard", "recomputed source
// rate".
[[nodiscard]] std::string what_of(const verify::Finding& finding);
// What was done to the file.
[[nodiscard]] std::string words_of(const verify::Mended& mended);
// "bit for bit", or the tolerance and why; empty where nothing was compared.
[[nodiscard]] std::string words_of(const verify::DeepComparison& comparison);

// To be pasted into a shell, with the real paths.
[[nodiscard]] std::string command_of(const verify::Remedy& remedy);
// What to know before; empty mostly.
[[nodiscard]] std::string note_of(const verify::Remedy& remedy);

}  // namespace xtts::request
