#include "pipeline/build.hpp"

#include <new>
#include <system_error>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shortage.hpp"
#include "base/try.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_phases.hpp"
#include "pipeline/confined_data.hpp"
#include "pipeline/resource_advice.hpp"
#include "store/cache_folder.hpp"
#include "store/generations.hpp"

namespace xtts::pipeline {
namespace {

Status check_data(const BuildJob& job) {
  const BuildRequest& request = job.request;
  if (request.corpora.empty())
    return check_folders(job.env, request.data.path, request.options.cache);
  for (const auto& entry : request.corpora)
    XTTS_TRY(check_folders(job.env, entry.folder, request.options.cache).with_context(entry.name));
  return {};
}

// Adds to the system's refusal the bytes that are free and, once there is a plan, the bytes that
// are still to write.
Status with_advice(const BuildJob& job, const Status& failure, const CacheState& cache_state = {},
                   const Planned* planned = nullptr, const BuildPreview& preview = {}) {
  if (failure.code() != StatusCode::kResource) return failure;
  const auto free = free_bytes_for(job.env, job.request.options.cache);
  if (!free) return failure;
  std::optional<std::uint64_t> needed;
  if (planned != nullptr)
    needed = bytes_left_to_write(job.env, planned->plan, job.request, preview,
                                 cache_state.published(), *free);
  return advise_on_space(failure, needed, *free);
}

Result<std::unique_ptr<store::CacheFolder>> open_folder(const BuildJob& job) {
  const std::uint64_t shortages = shortage_count();
  auto opened = store::CacheFolder::open(
      job.env, job.request.options.cache,
      {.notice = [&job](const std::string& text) { job.observer.notice(text); },
       .cancelled = [&job] { return job.observer.cancelled(); }});
  if (opened) return opened;
  const bool is_refused = opened.status().code() == StatusCode::kResource;
  const bool is_unwritable = is_refused && shortage_count() == shortages;
  return with_advice(job, is_unwritable ? advise_on_writing(opened.status()) : opened.status());
}

// Removes .build/ after a refusal before any computing, unless it holds the journal of a build to
// continue.
void leave_no_trace(const BuildJob& job, store::CacheFolder& folder) {
  const auto journal =
      job.env.stat(join_path(store::build_folder(job.request.options.cache), "journal"));
  if (journal.status().code() == StatusCode::kNotFound) (void)folder.finish();
}

Result<BuildReport> only_preview(const BuildJob& job, const CacheState& cache_state,
                                 const Planned& planned) {
  const auto generation = store::unfinished_generation(job.env, job.request.options.cache);
  XTTS_ASSIGN(const SealedWork sealed, find_sealed_work(job, planned, generation.value_or(1)));
  job.observer.before(preview_build(job, cache_state, planned, sealed.clip_count()));
  return BuildReport();
}

// `folder`: null in a dry run, which previews what is published.
Result<BuildReport> end_done(const BuildJob& job, const CacheState& cache_state,
                             const Planned& planned, store::CacheFolder* folder) {
  auto report = report_published(job, cache_state, planned, folder);
  if (report && folder == nullptr) job.observer.before(preview_done(job, planned, *report));
  return report;
}

Result<BuildReport> finish_build(const BuildJob& job, CacheState& cache_state,
                                 const Planned& planned, StartedBuild& started,
                                 store::CacheFolder& folder) {
  XTTS_ASSIGN(const Computed computed, compute_build(job, cache_state, planned, started, folder));
  XTTS_ASSIGN(const Indexed indexed,
              index_computed(job, cache_state, planned, started, computed, folder));
  return publish_build(job, cache_state, planned, computed, indexed, folder);
}

// `folder`: null in a dry run.
Result<BuildReport> build_in(const BuildJob& asked, store::CacheFolder* folder) {
  auto cache_state = read_cache_state(asked, folder);
  if (!cache_state) return with_advice(asked, cache_state.status());
  auto settled = settle_lengths(asked, *cache_state);
  if (!settled) return with_advice(asked, settled.status());
  const BuildJob job{asked.env, settled->request, asked.observer};
  const auto planned = plan_build(job, *cache_state, *settled);
  if (!planned) return with_advice(job, planned.status());
  if (planned->is_done) return end_done(job, *cache_state, *planned, folder);
  if (folder == nullptr) return only_preview(job, *cache_state, *planned);
  auto started = begin_build(job, *cache_state, *planned, *folder);
  if (!started) return with_advice(job, started.status(), *cache_state, &*planned);
  auto report = finish_build(job, *cache_state, *planned, *started, *folder);
  if (report) return report;
  return with_advice(job, report.status(), *cache_state, &*planned, started->preview);
}

Result<BuildReport> run(const BuildJob& job) {
  XTTS_TRY(check_data(job));
  if (job.request.options.dry_run) return build_in(job, nullptr);
  XTTS_ASSIGN(const auto folder, open_folder(job));
  auto report = build_in(job, folder.get());
  if (!report) leave_no_trace(job, *folder);
  return report;
}

}  // namespace

Result<BuildReport> build(Env& env, const BuildRequest& request, BuildObserver& observer) {
  // Only a refusal of memory or threads by the system may still throw. It is no defect of ours.
  try {
    const auto of_sources = confined_to_data(env, request.data, request.corpora);
    const auto confined = confined_to(*of_sources, request.options.cache, Links::kNone);
    BuildRequest heard = request;
    heard.run.cancelled = [&observer] { return observer.cancelled(); };
    return run({.env = *confined, .request = heard, .observer = observer});
  } catch (const std::bad_alloc&) {
    return Status(
        StatusCode::kResource,
        formatted("out of memory: run again with a lower {}, or fewer threads", option("memory")));
  } catch (const std::system_error& error) {
    return Status(StatusCode::kResource,
                  formatted("no thread could be started, for want of memory or by a limit of the "
                            "system ({}): run again with fewer threads",
                            error.what()));
  }
}

}  // namespace xtts::pipeline
