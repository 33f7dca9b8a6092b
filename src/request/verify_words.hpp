// Verify's findings in words. Only this code turns a finding, a mended file or a remedy into a
// sentence. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "verify/verify.hpp"

namespace xtts::request {

// Gives "4,096 bytes"; empty for no evidence.
[[nodiscard]] std::string words_of(const verify::Evidence& evidence);
// Names the fault: "block header", "unreadable record", "not mended, shard", "recomputed source
// rate".
[[nodiscard]] std::string what_of(const verify::Finding& finding);
// Says how the file was mended.
[[nodiscard]] std::string words_of(const verify::RepairedFile& repair);
// Gives "bit for bit", or the tolerance and its reason; empty where nothing was compared.
[[nodiscard]] std::string words_of(const verify::DeepComparison& comparison);

// Gives a command to paste into a shell, with the real paths.
[[nodiscard]] std::string command_of(const verify::Remedy& remedy);
// Gives a note to read before the command. Mostly empty.
[[nodiscard]] std::string note_of(const verify::Remedy& remedy);

}  // namespace xtts::request
