// Finds a source by the path in DATA's tree that a cache stores for it. Looks into an archive if
// the path leads into one. Free function; one thread at a time where Env is used.
#pragma once

#include <string_view>

#include "base/env.hpp"
#include "corpus/files/source_place.hpp"
#include "formats/data_folders.hpp"

namespace xtts::corpus {

// kNotFound: there is no such file, or no such member of the archive.
[[nodiscard]] Result<SourcePlace> find_source(Env& env, const formats::DataFolders& data,
                                              std::string_view source);

}  // namespace xtts::corpus
