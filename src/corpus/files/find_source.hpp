// Finds a source by the path in DATA's tree that a cache stores for it. Looks into an archive if
// the path leads into one. Free function; one thread at a time where Env is used.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/env.hpp"
#include "corpus/files/source_place.hpp"

namespace xtts::corpus {

// kNotFound: there is no such file, or no such member of the archive.
[[nodiscard]] Result<SourcePlace> find_source(Env& env, const std::string& data_folder,
                                              std::span<const std::string> audio_roots,
                                              std::string_view source);

}  // namespace xtts::corpus
