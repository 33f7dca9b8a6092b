#include "maintain/new_cache.hpp"

#include <algorithm>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "store/ownership.hpp"

namespace xtts::maintain {

Status check_target(Env& env, const std::string& path) {
  const auto entries = env.list(path);
  if (!entries) {
    return entries.status().code() == StatusCode::kNotFound ? Status() : entries.status();
  }
  const auto is_named = [&](std::string_view name) {
    return std::ranges::any_of(*entries, [&](const auto& entry) { return entry.name == name; });
  };
  if (is_named("manifest.json")) {
    return {StatusCode::kInvalidArgument,
            path + " holds a cache already: give a folder that does not exist yet"};
  }
  const auto confined = confined_to(env, path, Links::kNone);
  if (confined->stat(join_path(path, ".build/journal"))) {
    return {StatusCode::kInvalidArgument,
            path + " has an unfinished build: give a folder that does not exist yet"};
  }
  const Status status = store::check_may_be_cache(env, path);
  if (status.code() != StatusCode::kInvalidArgument || is_named(".build")) return status;
  return {StatusCode::kInvalidArgument,
          path + " is not empty and not a cache: give a folder that does not exist yet"};
}

Status verify_written(Env& env, const std::string& path, verify::Level level, const WriteRun& run) {
  verify::Options options;
  options.level = level;
  options.thread_count = run.thread_count;
  options.progress = progress_of(run, "bytes verified");
  options.cancelled = run.cancelled;
  XTTS_ASSIGN(const auto report, verify::verify_cache(env, path, options));
  if (report.ok) return {};
  const auto& finding = report.findings.front();
  return {StatusCode::kCorrupt,
          formatted("what was just written does not read back: {} (check {}); what was there "
                    "before is untouched: look at the disk's health",
                    finding.file, name_of(finding.check))};
}

void remove_unpublished(store::CacheFolder& folder) {
  if (const auto published = folder.manifest(); !published || *published) return;
  (void)folder.collect_garbage(nullptr, {});
  (void)folder.finish();
}

store::LeaseCallbacks lease_callbacks_of(const WriteRun& run) {
  return {.notice = run.notice, .cancelled = run.cancelled};
}

std::function<void(std::uint64_t, std::uint64_t)> progress_of(const WriteRun& run,
                                                              const char* step) {
  if (!run.progress) return {};
  return [&run, step](std::uint64_t done, std::uint64_t total) { run.progress(step, done, total); };
}

}  // namespace xtts::maintain
