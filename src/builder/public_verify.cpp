// verify_cache() of include/xtts/builder.hpp on verify::verify_cache.
#include <mutex>
#include <utility>

#include "base/current_exception.hpp"
#include "base/try.hpp"
#include "builder/find_program.hpp"
#include "frontend/json_text.hpp"
#include "frontend/verify_json.hpp"
#include "frontend/verify_rates.hpp"
#include "frontend/verify_request.hpp"
#include "xtts/builder.hpp"

namespace xtts {
namespace {

VerifyReport public_report(const verify::Report& report) {
  VerifyReport out = {.ok = report.ok,
                      .finding_count = report.finding_count,
                      .shard_count = report.shard_count,
                      .record_count = report.record_count,
                      .bytes_checked = report.bytes_checked,
                      .json = frontend::dump_json(frontend::to_json(report))};
  for (const verify::Finding& finding : report.findings) {
    out.findings.push_back({.is_note = finding.weight == verify::Weight::kNote,
                            .file = finding.file,
                            .offset_bytes = finding.offset_bytes,
                            .clip = finding.clip,
                            .column = finding.column,
                            .what = finding.what,
                            .expected = finding.expected,
                            .found = finding.found,
                            .remedy = finding.remedy});
  }
  for (const verify::Mended& mended : report.repaired) {
    out.repaired.push_back(
        {.file = mended.file, .what = mended.what, .recomputed_count = mended.recomputed_count});
  }
  return out;
}

// What the threads of all stages tell, one at a time.
class Teller {
 public:
  Teller(Env& env, const VerifyCallbacks& callbacks) : env_(env), callbacks_(callbacks) {}

  void tell(frontend::VerifyRates& rates, std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    callbacks_.progress(rates.update(env_.now(), done, total));
  }

  frontend::VerifyRates check{VerifyStage::kCheck};
  frontend::VerifyRates recompute{VerifyStage::kRecompute};
  frontend::VerifyRates repair{VerifyStage::kRepair};

 private:
  Env& env_;
  const VerifyCallbacks& callbacks_;
  std::mutex mutex_;
};

Result<VerifyReport> run_verify(Env& env, const VerifyOptions& options,
                                const VerifyCallbacks& callbacks) {
  XTTS_ASSIGN(verify::Options settings,
              frontend::settings_of(env, options, builder::caller_with(options.program)));
  settings.cancelled = callbacks.cancelled;
  settings.notice = callbacks.notice;
  Teller teller(env, callbacks);
  if (callbacks.progress) {
    const auto of_stage = [&](frontend::VerifyRates& rates) {
      return [&](std::uint64_t done, std::uint64_t total) { teller.tell(rates, done, total); };
    };
    settings.progress = of_stage(teller.check);
    settings.recompute_progress = of_stage(teller.recompute);
    settings.repair_progress = of_stage(teller.repair);
  }
  XTTS_ASSIGN(const auto report, verify::verify_cache(env, options.cache, settings));
  return public_report(report);
}

}  // namespace

Result<VerifyReport> verify_cache(const VerifyOptions& options,
                                  const VerifyCallbacks& callbacks) try {
  return run_verify(Env::real(), options, callbacks);
} catch (...) {
  return status_of_current_exception();
}

}  // namespace xtts
