#include "reader/open_generation.hpp"

#include "base/try.hpp"

namespace xtts::reader {
namespace {

// The limit of publications while we open. Each round needs a new manifest, so the loop ends.
constexpr int kRoundsMax = 8;

struct Round {
  Generation generation;
  Status status;
};

Round open_as_named(Env& env, const std::string& cache, LoadedManifest loaded,
                    const std::shared_ptr<Kept>& kept) {
  Round round;
  round.generation.loaded = std::move(loaded);
  const formats::Manifest& manifest = round.generation.loaded.manifest;
  const std::string name = formats::index_file_name(manifest.index_digest);
  const std::string path = join_path(cache, name);
  auto lock = env.lock(path, LockKind::kShared);
  if (lock.ok()) {
    round.generation.lock = std::move(*lock);
  } else if (lock.status().code() == StatusCode::kBusy) {
    // A garbage collector holds the lock, so this generation is no longer the current one.
    round.status = lock.status();
    return round;
  }
  auto index =
      IndexReader::open(env, path, name, {manifest.index_bytes, manifest.index_digest}, kept);
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

Result<Generation> open_generation(Env& env, const std::string& cache,
                                   const std::shared_ptr<Kept>& kept) {
  XTTS_ASSIGN(LoadedManifest loaded, load_manifest(env, cache));
  for (int i = 0;; ++i) {
    Round round = open_as_named(env, cache, std::move(loaded), kept);
    // A builder may have published and collected between our read of the manifest and our lock. So
    // we read the manifest again under the lock: if it is equal, the lock came first.
    const auto again = load_manifest_text(env, cache);
    if (!again.ok()) return again.status();
    if (*again == round.generation.loaded.text || i == kRoundsMax) {
      if (!round.status.ok()) return round.status;
      if (!kept->keeps_locks) round.generation.lock.reset();
      return std::move(round.generation);
    }
    XTTS_ASSIGN(loaded, load_manifest(env, cache));
  }
}

}  // namespace xtts::reader
