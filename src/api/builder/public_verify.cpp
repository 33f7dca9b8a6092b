// verify_cache() of include/xtts/builder.hpp on request::verify_caches.
#include <map>
#include <mutex>
#include <utility>

#include "api/builder/callback_guard.hpp"
#include "api/builder/check_options.hpp"
#include "api/builder/find_program.hpp"
#include "base/current_exception.hpp"
#include "base/memory_reserve.hpp"
#include "base/no_cancellation.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "report/progress_meter.hpp"
#include "request/json_text.hpp"
#include "request/verify_caches.hpp"
#include "request/verify_json.hpp"
#include "request/verify_words.hpp"
#include "xtts/builder.hpp"

namespace xtts {
namespace {

VerifyReport public_report(const verify::Report& report) {
  VerifyReport out = {.ok = report.ok,
                      .finding_count = report.finding_count,
                      .shard_count = report.shard_count,
                      .record_count = report.record_count,
                      .bytes_checked = report.bytes_checked,
                      .json = request::dump_json(request::to_json(report))};
  for (const verify::Finding& finding : report.findings) {
    out.findings.push_back({.is_note = finding.weight == verify::Weight::kNote,
                            .file = finding.file,
                            .offset_bytes = finding.offset_bytes,
                            .clip = finding.clip,
                            .column = finding.column,
                            .what = request::what_of(finding),
                            .expected = request::words_of(finding.expected),
                            .found = request::words_of(finding.found),
                            .check = std::string(name_of(finding.check)),
                            .outcome = std::string(name_of(finding.outcome)),
                            .part = finding.part,
                            .cure = std::string(name_of(finding.remedy))});
  }
  if (report.remedy) {
    out.remedy = request::command_of(*report.remedy);
    out.remedy_note = request::note_of(*report.remedy);
  }
  out.clip_count = report.clip_count;
  for (const verify::RepairedFile& repair : report.repaired) {
    out.repaired.push_back({.file = repair.file,
                            .what = request::words_of(repair),
                            .recomputed_count = repair.recomputed_count});
  }
  return out;
}

// Passes on the callbacks from the threads of all stages, one at a time.
class VerifyProgressReporter {
 public:
  VerifyProgressReporter(Env& env, const VerifyCallbacks& callbacks, builder::CallbackGuard& guard)
      : env_(env), callbacks_(callbacks), guard_(guard) {}

  void report(VerifyStage stage, std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    report::ProgressMeter& meter = meters_[stage];
    meter.update(env_.now(), {.done = done, .total = total});
    const report::Progress shown = meter.shown();
    const VerifyProgress progress = {.stage = stage,
                                     .done = done,
                                     .total = total,
                                     .per_second = shown.per_second,
                                     .seconds_left = shown.seconds_left};
    guard_.run("progress", [&] { callbacks_.progress(progress); });
  }

 private:
  Env& env_;
  const VerifyCallbacks& callbacks_;
  builder::CallbackGuard& guard_;
  std::mutex mutex_;
  std::map<VerifyStage, report::ProgressMeter> meters_;  // guarded by mutex_
};

Result<VerifyReport> run_verify(Env& env, const VerifyOptions& options,
                                const VerifyCallbacks& callbacks, builder::CallbackGuard& guard) {
  VerifyProgressReporter reporter(env, callbacks, guard);
  const auto complete = [&](verify::Options& settings) {
    settings.cancelled = [&] {
      bool is_wanted = false;
      if (callbacks.cancelled) guard.run("cancelled", [&] { is_wanted = callbacks.cancelled(); });
      return is_wanted || guard.has_thrown();
    };
    settings.notice = [&](const std::string& text) {
      if (callbacks.notice) guard.run("notice", [&] { callbacks.notice(text); });
    };
    if (!callbacks.progress) return;
    const auto of_stage = [&](VerifyStage stage) {
      return [&reporter, stage](std::uint64_t done, std::uint64_t total) {
        reporter.report(stage, done, total);
      };
    };
    settings.progress = of_stage(VerifyStage::kCheck);
    settings.recompute_progress = of_stage(VerifyStage::kRecompute);
    settings.repair_progress = of_stage(VerifyStage::kRepair);
  };
  XTTS_ASSIGN(
      const auto report,
      request::verify_caches(env, options, builder::caller_with(options.program), complete));
  return public_report(report);
}

}  // namespace

Result<VerifyReport> verify_cache(const VerifyOptions& options, const VerifyCallbacks& callbacks,
                                  std::size_t options_bytes) try {
  const NoCancellation no_cancellation;
  const MemoryReserve reserve;
  name_options_as(OptionNames::kFields);
  XTTS_TRY(builder::check_size("VerifyOptions", options_bytes, sizeof options));
  XTTS_TRY(builder::check_texts(options));
  builder::CallbackGuard guard;
  auto report = run_verify(Env::real(), options, callbacks, guard);
  if (guard.has_thrown()) return guard.failure();
  return report;
} catch (...) {
  return status_of_current_exception();
}

}  // namespace xtts
