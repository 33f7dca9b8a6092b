// build_cache() of include/xtts/builder.hpp on pipeline::build.
#include <chrono>
#include <utility>

#include "api/builder/callback_guard.hpp"
#include "api/builder/check_options.hpp"
#include "api/builder/find_program.hpp"
#include "api/builder/public_reject.hpp"
#include "base/current_exception.hpp"
#include "base/memory_reserve.hpp"
#include "base/no_cancellation.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "pipeline/build.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_request.hpp"
#include "recipe/trainer_config.hpp"
#include "report/progress_meter.hpp"
#include "request/build_json.hpp"
#include "request/build_options.hpp"
#include "request/json_text.hpp"
#include "xtts/builder.hpp"

namespace xtts {
namespace {

BuildPreview public_preview(const pipeline::BuildRequest& request,
                            const pipeline::BuildPreview& preview) {
  std::uint64_t size_bytes = 0;
  for (const auto& choice : preview.storage) {
    if (choice.chosen) size_bytes = choice.size_bytes;
  }
  return {.layout = preview.layout,
          .clip_count = preview.clip_count,
          .to_compute_count = preview.to_compute_count,
          .reused_count = preview.reused_count,
          .gone_count = preview.gone_count,
          .source_bytes = preview.source_bytes,
          .sound_seconds = preview.sound_seconds,
          .build_seconds = preview.build_seconds,
          .size_bytes = size_bytes,
          .free_bytes = preview.free_bytes,
          .json = request::dump_json(request::preview_to_json(request, preview))};
}

BuildProgress public_progress(const report::Progress& progress) {
  return {.done_count = progress.done,
          .total_count = progress.total,
          .reject_count = progress.rejects,
          .clips_per_s = progress.per_second,
          .realtime_factor = progress.realtime_factor,
          .bytes_per_s = progress.bytes_per_s,
          .seconds_left = progress.seconds_left};
}

BuildReport public_report(const pipeline::BuildRequest& request,
                          const pipeline::BuildReport& report, double elapsed_s) {
  BuildReport out = {
      .unchanged = report.unchanged,
      .generation = report.generation,
      .clip_count = report.clip_count,
      .record_count = report.record_count,
      .computed_count = report.computed_count,
      .reused_count = report.reused_count,
      .gone_count = report.gone_count,
      .found_count = report.accounting.found,
      .dropped_count = report.accounting.dropped,
      .rejected_count = report.accounting.rejected,
      .renamed_count = report.accounting.renamed,
      .sound_seconds = report.sound_seconds,
      .cache_bytes = report.cache_bytes,
      .records_by_split = report.records_by_split,
      .speaker_count = report.speaker_count,
      .cut_count = report.cut_count,
      .cut_text_count = report.cut_text_count,
      .warned_count = report.warned_count,
      .elapsed_s = elapsed_s,
      .json = request::dump_json(request::report_to_json(request, report, elapsed_s))};
  if (report.frames_needed > 0) out.max_frames_needed = report.frames_needed;
  for (const formats::Reject& reject : report.rejects) out.rejects.push_back(public_reject(reject));
  return out;
}

class Observer final : public pipeline::BuildObserver {
 public:
  Observer(Env& env, const pipeline::BuildRequest& request, const BuildCallbacks& callbacks,
           builder::CallbackGuard& guard)
      : env_(env), request_(request), callbacks_(callbacks), guard_(guard) {}

  [[nodiscard]] bool wants_estimate() const override {
    return static_cast<bool>(callbacks_.before);
  }
  void notice(const std::string& text) override {
    if (callbacks_.notice) guard_.run("notice", [&] { callbacks_.notice(text); });
  }
  void before(const pipeline::BuildPreview& preview) override {
    if (!callbacks_.before) return;
    const BuildPreview shown = public_preview(request_, preview);
    guard_.run("before", [&] { callbacks_.before(shown); });
  }
  void progress(const pipeline::BuildProgress& progress) override {
    if (!callbacks_.progress) return;
    meter_.update(env_.now(), {.done = progress.done_count,
                               .total = progress.total_count,
                               .rejects = progress.reject_count,
                               .sound_seconds = progress.sound_seconds,
                               .bytes = progress.source_bytes});
    guard_.run("progress", [&] { callbacks_.progress(public_progress(meter_.shown())); });
  }
  [[nodiscard]] bool cancelled() const override {
    bool is_wanted = false;
    if (callbacks_.cancelled) guard_.run("cancelled", [&] { is_wanted = callbacks_.cancelled(); });
    return is_wanted || guard_.has_thrown();
  }

 private:
  Env& env_;
  const pipeline::BuildRequest& request_;
  const BuildCallbacks& callbacks_;
  builder::CallbackGuard& guard_;
  report::ProgressMeter meter_;
};

Result<BuildReport> run_build(Env& env, const BuildOptions& options,
                              const BuildCallbacks& callbacks, builder::CallbackGuard& guard) {
  const auto on_trainer_config = [&](const recipe::TrainerConfig& config) {
    if (!callbacks.notice) return;
    for (const std::string& line : request::not_reproduced(config))
      guard.run("notice", [&] { callbacks.notice(line); });
  };
  XTTS_ASSIGN(
      const auto request,
      request::request_of(env, options, builder::caller_with(options.program), on_trainer_config));
  const auto begin = env.now();
  Observer observer(env, request, callbacks, guard);
  XTTS_ASSIGN(const auto report, pipeline::build(env, request, observer));
  if (request.options.dry_run) return BuildReport{};
  const double elapsed_s = std::chrono::duration<double>(env.now() - begin).count();
  return public_report(request, report, elapsed_s);
}

}  // namespace

Result<BuildReport> build_cache(const BuildOptions& options, const BuildCallbacks& callbacks,
                                std::size_t options_bytes) try {
  const NoCancellation no_cancellation;
  const MemoryReserve reserve;
  name_options_as(OptionNames::kFields);
  XTTS_TRY(builder::check_size("BuildOptions", options_bytes, sizeof options));
  XTTS_TRY(builder::check_texts(options, builder::Paths::kDataAndCache));
  builder::CallbackGuard guard;
  auto report = run_build(Env::real(), options, callbacks, guard);
  if (guard.has_thrown()) return guard.failure();
  return report;
} catch (...) {
  return status_of_current_exception();
}

}  // namespace xtts
