#include "base/formatted.hpp"
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
  const std::string& cache = job.request.options.cache;
  XTTS_ASSIGN(const auto lost, lost_shard(job.env, cache, manifest));
  if (!lost) return {};
  const formats::DataFolders& data = job.request.data;
  return {
      StatusCode::kCorrupt,
      formatted("{} is damaged: {}; {} mends it", cache, *lost,
                command_in_text(formatted("{} --data {}{}", reader::repair_command(cache),
                                          shell_quoted(data.path), data.audio_root_options())))};
}

// Finds a lost manifest beside the journal of an unfinished update: this would look like a first
// build.
Status check_manifest_is_not_lost(const BuildJob& job) {
  const std::string& cache = job.request.options.cache;
  if (!store::is_manifest_lost(job.env, cache)) return {};
  return {StatusCode::kCorrupt, formatted("{} is lost, but its index is there: {} brings it back",
                                          join_path(cache, "manifest.json"),
                                          command_in_text(reader::repair_command(cache)))};
}

// True where the build replaces the published cache instead of continuing it. A cache that cannot
// be opened does not count as a later generation by another builder.
bool overwrites(const BuildRequest& request,
                const Result<std::shared_ptr<reader::CacheView>>& found) {
  if (!request.options.overwrite || request.options.overwrite_only.empty())
    return request.options.overwrite;
  return !found || (*found)->manifest().index_digest.to_hex() == request.options.overwrite_only;
}

// Compares the published generation with the one that the recipe was taken from before the lock.
Status check_recipe_is_of(const BuildRequest& request, const formats::Manifest& published) {
  if (!request.recipe_of || *request.recipe_of == published.index_digest) return {};
  return {StatusCode::kBusy,
          formatted("another build has published {} meanwhile: run the same command again",
                    request.options.cache)};
}

Status tell_kept_recipe(const BuildJob& job, const formats::Manifest& overwritten) {
  XTTS_TRY(check_recipe_is_of(job.request, overwritten));
  if (!job.request.recipe_of) return {};
  job.observer.notice(
      formatted("{} keeps the recipe of the cache ({}) and the numbers of its speakers; {} begins "
                "from nothing",
                option_on("overwrite"), overwritten.recipe_name, option("recipe", "NAME")));
  return {};
}

Status look_at_overwritten(const BuildJob& job, store::CacheFolder& folder,
                           CacheState& cache_state) {
  auto manifest = folder.manifest();
  const StatusCode code = manifest.status().code();
  cache_state.is_garbage_known = code != StatusCode::kCorrupt && code != StatusCode::kUnsupported;
  if (manifest) {
    if (*manifest) XTTS_TRY(tell_kept_recipe(job, **manifest));
    cache_state.overwritten = std::move(*manifest);
  } else if (cache_state.is_garbage_known) {
    return manifest.status();
  }
  return {};
}

Status look_at_published(const BuildJob& job, store::CacheFolder* folder, CacheState& cache_state) {
  const BuildRequest& request = job.request;
  const bool is_replaced_unseen =
      request.options.overwrite && request.options.overwrite_only.empty();
  auto found = is_replaced_unseen ? std::shared_ptr<reader::CacheView>()
                                  : reader::CacheView::open(job.env, request.options.cache);
  if (overwrites(request, found))
    return folder == nullptr ? Status() : look_at_overwritten(job, *folder, cache_state);
  if (found) {
    cache_state.previous = std::move(found).value();
    XTTS_TRY(check_recipe_is_of(request, cache_state.previous->manifest()));
    return check_shards_are_there(job, cache_state.previous->manifest());
  }
  const Status& failure = found.status();
  if (failure.code() == StatusCode::kNotFound) return check_manifest_is_not_lost(job);
  if (failure.code() != StatusCode::kCorrupt) return failure;
  return {failure.code(),
          formatted("{}; {} with {} builds it anew, as the last resort", failure.message(),
                    option_on("overwrite"), option("recipe", "NAME"))};
}

}  // namespace

const formats::Manifest* CacheState::published() const noexcept {
  if (previous) return &previous->manifest();
  return overwritten ? &*overwritten : nullptr;
}

Result<CacheState> read_cache_state(const BuildJob& job, store::CacheFolder* folder) {
  CacheState cache_state;
  XTTS_TRY(look_at_published(job, folder, cache_state));
  cache_state.sources = store::load_source_table(job.env, job.request.options.cache);
  return cache_state;
}

}  // namespace xtts::pipeline
