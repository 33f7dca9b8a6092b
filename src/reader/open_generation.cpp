#include "reader/open_generation.hpp"

#include "base/try.hpp"

namespace xtts::reader {
namespace {

// How often a builder may publish while we open. Each round needs a new manifest, so this ends.
constexpr int kRoundsMax = 8;

struct Round {
  Generation generation;
  Status status;
};

Round open_as_named(Env& env, const std::string& cache, LoadedManifest loaded) {
  Round round;
  round.generation.loaded = std::move(loaded);
  const formats::Manifest& manifest = round.generation.loaded.manifest;
  const std::string name = formats::index_file_name(manifest.index_digest);
  const std::string path = join_path(cache, name);
  auto lock = env.lock(path, LockKind::kShared);
  if (lock.ok()) {
    round.generation.lock = std::move(*lock);
  } else if (lock.status().code() == StatusCode::kBusy) {
    // A collector holds it, so it is not the current generation's any more.
    round.status = lock.status();
    return round;
  }
  auto index = IndexReader::open(env, path, name, {manifest.index_bytes, manifest.index_digest});
  if (index.ok()) {
    round.generation.index = std::move(*index);
  } else {
    round.status = index.status();
  }
  if (round.status.code() == StatusCode::kNotFound) {
    round.status = Status(StatusCode::kCorrupt, name + ", which the manifest names, is missing");
  }
  return round;
}

}  // namespace

Result<Generation> open_generation(Env& env, const std::string& cache) {
  XTTS_ASSIGN(LoadedManifest loaded, load_manifest(env, cache));
  for (int i = 0;; ++i) {
    Round round = open_as_named(env, cache, std::move(loaded));
    // Between the manifest and the lock a builder may have published and collected. The manifest is
    // read again under the lock: where it is the same, the lock was there before any collection
    // could begin.
    const auto again = load_manifest_text(env, cache);
    if (!again.ok()) return again.status();
    if (*again == round.generation.loaded.text || i == kRoundsMax) {
      if (!round.status.ok()) return round.status;
      return std::move(round.generation);
    }
    XTTS_ASSIGN(loaded, load_manifest(env, cache));
  }
}

}  // namespace xtts::reader
