// Option names in messages. Who types options reads "--max-dropped 12%"; who sets them in code
// reads `max_dropped="12%"`. A process has one way: the program's unless libxtts_builder says
// otherwise. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace xtts {

enum class OptionNames { kFlags, kFields };
void name_options_as(OptionNames names) noexcept;

// `flag` is the option on the command line, without dashes: "--memory", or "memory".
[[nodiscard]] std::string option(std::string_view flag);
// With a value, quoted as a shell or a language wants it: "--memory 2G", or `memory="2G"`. Capitals
// stand for the caller's own word: "--data DATA".
[[nodiscard]] std::string option(std::string_view flag, std::string_view value);
// Of an option that may be given several times: "--audio-root /a --audio-root /b".
[[nodiscard]] std::string option(std::string_view flag, std::span<const std::string> values);
// "--overwrite", or "overwrite=True".
[[nodiscard]] std::string option_on(std::string_view flag);
// "--set mel.n_mels=100", or `settings=["mel.n_mels=100"]`.
[[nodiscard]] std::string option_set(std::string_view key, std::string_view value);

}  // namespace xtts
