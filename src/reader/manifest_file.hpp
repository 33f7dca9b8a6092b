// Reads manifest.json: the first thing that anybody reads of a cache. Pure but for the read.
// Failures: kNotFound (no cache, or one never published: the message says how to go on), kCorrupt,
// kUnsupported, kResource; each with the file's name.
#pragma once

#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

struct LoadedManifest {
  std::string text;  // what lies on disk, to tell one generation from another
  formats::Manifest manifest;
};

// The text as it lies there, nothing of it verified.
[[nodiscard]] Result<std::string> load_manifest_text(Env& env, const std::string& cache);
[[nodiscard]] Result<LoadedManifest> load_manifest(Env& env, const std::string& cache);

}  // namespace xtts::reader
