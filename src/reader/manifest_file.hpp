// Reads manifest.json, the first file of a cache that a reader opens. Pure except for the read.
// Failures: kNotFound (no cache, or one never published: the message says how to continue),
// kCorrupt, kUnsupported, kResource; each with the file's name.
#pragma once

#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

struct LoadedManifest {
  std::string text;  // as on disk, to tell one generation from another
  formats::Manifest manifest;
};

// The text on disk, not verified.
[[nodiscard]] Result<std::string> load_manifest_text(Env& env, const std::string& cache);
[[nodiscard]] Result<LoadedManifest> load_manifest(Env& env, const std::string& cache);

}  // namespace xtts::reader
