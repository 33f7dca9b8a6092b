#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "pipeline/build_phases.hpp"
#include "pipeline/published_clip.hpp"
#include "reader/cache_paths.hpp"
#include "reader/repair_advice.hpp"
#include "store/generations.hpp"

namespace xtts::pipeline {
namespace {

// Checks the sizes of all shards. A lost or cut shard would otherwise end the build after its work,
// or stay unseen if there is no work. Verify finds what sizes do not show.
Status check_shards_are_there(const BuildJob& job, const formats::Manifest& manifest) {
  const std::string& cache = job.request.cache;
  XTTS_ASSIGN(const auto lost, lost_shard(job.env, cache, manifest));
  if (!lost) return {};
  return {StatusCode::kCorrupt, cache + " is damaged: " + *lost + "; " +
                                    command_in_text(reader::repair_command(cache) + " --data " +
                                                    shell_quoted(job.request.data)) +
                                    " mends it"};
}

// Finds a lost manifest beside the journal of an unfinished update: this would look like a first
// build.
Status check_manifest_is_not_lost(const BuildJob& job) {
  const std::string& cache = job.request.cache;
  if (!store::is_manifest_lost(job.env, cache)) return {};
  return {StatusCode::kCorrupt,
          join_path(cache, "manifest.json") + " is lost, but its index is there: " +
              command_in_text(reader::repair_command(cache)) + " brings it back"};
}

// Whether the build replaces the published cache instead of continuing it. A cache that cannot be
// opened does not count as a later generation by another builder.
bool overwrites(const BuildRequest& request,
                const Result<std::shared_ptr<reader::CacheView>>& found) {
  if (!request.overwrite || request.overwrite_only.empty()) return request.overwrite;
  return !found || (*found)->manifest().index_digest.to_hex() == request.overwrite_only;
}

Status look_at_overwritten(store::CacheFolder& folder, CacheState& cache_state) {
  auto manifest = folder.manifest();
  const StatusCode code = manifest.status().code();
  cache_state.is_garbage_known = code != StatusCode::kCorrupt && code != StatusCode::kUnsupported;
  if (manifest) {
    cache_state.overwritten = std::move(*manifest);
  } else if (cache_state.is_garbage_known) {
    return manifest.status();
  }
  return {};
}

Status look_at_published(const BuildJob& job, store::CacheFolder* folder, CacheState& cache_state) {
  const BuildRequest& request = job.request;
  const bool is_replaced_unseen = request.overwrite && request.overwrite_only.empty();
  auto found = is_replaced_unseen ? std::shared_ptr<reader::CacheView>()
                                  : reader::CacheView::open(job.env, request.cache);
  if (overwrites(request, found))
    return folder == nullptr ? Status() : look_at_overwritten(*folder, cache_state);
  if (found) {
    cache_state.previous = std::move(found).value();
    return check_shards_are_there(job, cache_state.previous->manifest());
  }
  const Status& failure = found.status();
  if (failure.code() == StatusCode::kNotFound) return check_manifest_is_not_lost(job);
  if (failure.code() != StatusCode::kCorrupt) return failure;
  return {failure.code(), failure.message() + "; " + option_on("overwrite") +
                              " builds it anew, as the last resort"};
}

}  // namespace

const formats::Manifest* CacheState::published() const noexcept {
  if (previous) return &previous->manifest();
  return overwritten ? &*overwritten : nullptr;
}

Result<CacheState> read_cache_state(const BuildJob& job, store::CacheFolder* folder) {
  CacheState cache_state;
  XTTS_TRY(look_at_published(job, folder, cache_state));
  cache_state.sources = store::load_source_table(job.env, job.request.cache);
  return cache_state;
}

}  // namespace xtts::pipeline
