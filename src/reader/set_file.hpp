// Reads set.json. One thread at a time; no state.
#pragma once

#include <string>

#include "base/env.hpp"
#include "formats/set_manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// True where the folder is a set: it has a set.json, and no manifest of a cache.
[[nodiscard]] bool is_set(Env& env, const std::string& folder);

struct LoadedSet {
  formats::SetManifest set;
  std::string folder;  // absolute
  Digest digest;       // of the file

  // Of a member: absolute.
  [[nodiscard]] std::string path_of(const formats::SetMember& member) const;
};
// kNotFound, kCorrupt, kUnsupported, kResource.
[[nodiscard]] Result<LoadedSet> load_set(Env& env, const std::string& folder);

}  // namespace xtts::reader
