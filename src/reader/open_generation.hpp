// Opens one whole generation: manifest, index, and the lock that keeps a builder's garbage
// collection away from it. Failures: as CacheView::open.
#pragma once

#include <memory>
#include <string>

#include "reader/index_reader.hpp"
#include "reader/manifest_file.hpp"

namespace xtts::reader {

struct Generation {
  LoadedManifest loaded;
  std::unique_ptr<IndexReader> index;
  // A shared lock on the index file. Null where the file system cannot lock: then no builder can
  // collect these files either, except one on another machine.
  std::unique_ptr<FileLock> lock;
};

// `kept` keeps what the index reads.
[[nodiscard]] Result<Generation> open_generation(
    Env& env, const std::string& cache,
    const std::shared_ptr<Kept>& kept = std::make_shared<Kept>());

}  // namespace xtts::reader
