// The content of a cache, read through the reader: for comparing two caches, or one with itself
// later.
#pragma once

#include <map>
#include <string>

#include "base/env.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::simulation {

// Fields by name: facts in words, and each column's shape and digest.
using Fields = std::map<std::string, std::string>;

struct Snapshot {
  formats::Manifest manifest;
  std::map<std::string, Fields> clips;  // by full id
  std::map<std::string, Fields> rejects;
};

// kCorrupt also where an added column does not belong to the clip's sound (added_value).
[[nodiscard]] Result<Snapshot> read_snapshot(reader::CacheView& view);
[[nodiscard]] Result<Snapshot> read_snapshot(Env& env, const std::string& cache);

// The value that the simulation's add_column gives a clip: from its sound and the code's version.
[[nodiscard]] float added_value(const formats::RecordFacts& facts, std::string_view version);

// Empty where both hold the same; else the first differences, a line each.
[[nodiscard]] std::string difference(const Snapshot& expected, const Snapshot& found);

}  // namespace xtts::simulation
