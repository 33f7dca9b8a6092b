// Option names in messages. A user of the command line reads "--max-dropped 12%"; a user of the
// library reads `max_dropped="12%"`. A process has one style: the command line's, unless
// libxtts_builder changes it. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace xtts {

enum class OptionNames { kFlags, kFields };
void name_options_as(OptionNames names) noexcept;

// `flag` is the option on the command line, without dashes: "--memory", or "memory".
[[nodiscard]] std::string option(std::string_view flag);
// An option with a value, quoted as a shell or a language needs it: "--memory 2G", or
// `memory="2G"`. A value in capitals is a placeholder: "--data DATA".
[[nodiscard]] std::string option(std::string_view flag, std::string_view value);
// An option that may be given several times: "--audio-root /a --audio-root /b".
[[nodiscard]] std::string option(std::string_view flag, std::span<const std::string> values);
// A flag that is short for a setting, where code has the setting alone: "--encoding cp1256", or
// `settings=["corpus.encoding=cp1256"]`.
[[nodiscard]] std::string option_or_setting(std::string_view flag, std::string_view key,
                                            std::string_view value);
// "--overwrite", or "overwrite=True".
[[nodiscard]] std::string option_on(std::string_view flag);
// "--set mel.n_mels=100", or `settings=["mel.n_mels=100"]`.
[[nodiscard]] std::string option_set(std::string_view key, std::string_view value);

}  // namespace xtts
