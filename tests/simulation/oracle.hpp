// The expected state: a build from nothing, the settings that a command's words ask for, and the
// files that a manifest names. Runs on threads that are not simulated.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/manifest.hpp"
#include "snapshot.hpp"
#include "support/memory_env.hpp"

namespace xtts::simulation {

using Files = std::map<std::string, std::string>;  // by path

[[nodiscard]] Files files_below(testing::MemoryEnv& env, const std::string& folder);

struct FreshCache {
  Snapshot snapshot;
  Files files;  // relative to the cache, without sources.bin
};
// Builds DATA's files with the settings of `manifest`, in a file system of its own.
[[nodiscard]] Result<FreshCache> build_afresh(const Files& data, const formats::Manifest& manifest);

// The exit code that a build by `words` has where there was no cache before.
[[nodiscard]] int exit_code_afresh(const Files& data, const std::vector<std::string>& words);

// The settings among a build's `words` that `manifest` does not follow, each a line.
[[nodiscard]] std::string settings_not_followed(const std::vector<std::string>& words,
                                                const formats::Manifest& manifest);

// The files that a finished cache may hold, relative to it.
[[nodiscard]] std::set<std::string> names_of(const formats::Manifest& manifest);

// The unfinished work in a cache's .build/: what its journal names.
struct Unfinished {
  std::set<std::string> files;                 // paths of sealed shards
  std::optional<Digest> features_fingerprint;  // of the journal's head
  // By id of a sealed clip: where its source lay, and the content. Older ones may be there, too.
  std::multimap<std::string, std::pair<std::string, Digest>> sources;
};
[[nodiscard]] Unfinished unfinished_work(testing::MemoryEnv& env);

}  // namespace xtts::simulation
