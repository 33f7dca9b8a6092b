// The numbers of speakers that a user gives (--speakers): whether a published cache has them too,
// and which names have no clip. A name's number is its place. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/name_table.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// kMismatch: the cache gives a name another number. The shorter list must begin the longer one: a
// number never changes, and new names come last. An empty `given` asks for nothing.
[[nodiscard]] Status check_speaker_numbers(const std::vector<std::string>& published,
                                           const std::vector<std::string>& given);

// The numbers that an update of a checked cache begins with.
[[nodiscard]] const std::vector<std::string>& numbers_to_keep(
    const std::vector<std::string>& published, const std::vector<std::string>& given);

// Tells the user about `given`, in words; nullopt: nothing. `published`: null for a new cache.
// `found`: the speakers of DATA.
[[nodiscard]] std::optional<std::string> note_on_speakers(const std::vector<std::string>& given,
                                                          const std::vector<std::string>* published,
                                                          const NameSet& found);

}  // namespace xtts::pipeline
