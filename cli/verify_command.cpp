// verify: is every byte what was written?
#include <thread>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "report/human.hpp"
#include "report/rate.hpp"
#include "report/table.hpp"
#include "verify/verify.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;
using report::escape_controls;
using report::format_counted;
using report::format_size;

struct VerifyOptions {
  std::string cache;
  std::string level = "full";
  std::uint32_t thread_count = 0;  // 0: not given
  bool repair = false;
};

// The rate of bytes, and the line that shows it. Progress comes from any thread.
class VerifyProgress {
 public:
  explicit VerifyProgress(Context& context)
      : context_(context), view_(context), rate_(context.env.now()) {}

  void update(std::uint64_t done, std::uint64_t total) {
    {
      const std::lock_guard lock(mutex_);
      rate_.update(context_.env.now(), static_cast<double>(done));
    }
    const auto text = [&] {
      const std::lock_guard lock(mutex_);
      const auto left = rate_.seconds_left(static_cast<double>(total));
      const double share =
          total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
      return "verify " + report::format_percent(share) + "  " + format_size(done) + "/" +
             format_size(total) + "  " + report::format_short(rate_.per_second() / 1e6) + " MB/s" +
             (left ? "  ETA " + report::format_duration(*left) : std::string());
    };
    view_.update({[&](std::size_t width) { return report::shorten(text(), width); }, text});
  }
  void clear() { view_.clear(); }

 private:
  Context& context_;
  ProgressView view_;
  std::mutex mutex_;
  report::RateEstimator rate_;
};

json finding_to_json(const verify::Finding& finding) {
  json out = {{"file", finding.file},   {"what", finding.what},    {"clip", json()},
              {"column", json()},       {"offset", json()},        {"expected", finding.expected},
              {"found", finding.found}, {"remedy", finding.remedy}};
  if (finding.offset_bytes) out["offset"] = *finding.offset_bytes;
  if (!finding.clip.empty()) out["clip"] = finding.clip;
  if (!finding.column.empty()) out["column"] = finding.column;
  return out;
}

json report_to_json(const verify::Report& report) {
  json findings = json::array();
  for (const verify::Finding& finding : report.findings)
    findings.push_back(finding_to_json(finding));
  return {{"ok", report.ok},
          {"level", report.level == verify::Level::kQuick ? "quick" : "full"},
          {"findings", findings},
          {"finding_count", report.finding_count},
          {"repaired", json::array()},
          {"shards", report.shard_count},
          {"records", report.record_count},
          {"bytes", report.bytes_checked},
          {"seconds", report.seconds}};
}

std::string describe(const verify::Finding& finding) {
  std::string text = escape_controls(finding.file);
  if (finding.offset_bytes) text += " at byte " + report::format_count(*finding.offset_bytes);
  text += ": " + finding.what;
  if (!finding.clip.empty()) text += " of " + escape_controls(finding.clip);
  if (!finding.column.empty()) text += " (" + escape_controls(finding.column) + ")";
  if (!finding.expected.empty()) text += ", expected " + escape_controls(finding.expected);
  if (!finding.found.empty()) text += ", found " + escape_controls(finding.found);
  if (!finding.remedy.empty()) text += "\n  " + escape_controls(finding.remedy);
  return text + "\n";
}

std::string summary(const verify::Report& report) {
  const bool quick = report.level == verify::Level::kQuick;
  return std::string(report.ok ? "ok" : "damaged") + ": " +
         format_counted(report.record_count, "record", "records") + " in " +
         format_counted(report.shard_count, "shard", "shards") + ", " +
         format_size(report.bytes_checked) + " checked in " +
         report::format_duration(report.seconds) +
         (quick ? " (quick: manifest, sizes and plan; --level full checks every byte)" : "") + "\n";
}

Status refuse_what_is_not_built(const VerifyOptions& options) {
  if (options.level != "quick" && options.level != "full") {
    const bool deep = options.level == "deep";
    return {deep ? StatusCode::kUnsupported : StatusCode::kInvalidArgument,
            deep ? "--level deep (recomputing from the sources) is not in this version: quick and "
                   "full are"
                 : "--level is quick or full, not '" + options.level + "'"};
  }
  if (options.repair) {
    return {
        StatusCode::kUnsupported,
        "--repair is not in this version; build the cache anew with: build DATA CACHE --overwrite"};
  }
  return {};
}

Status run_verify(Context& context, const VerifyOptions& options) {
  XTTS_TRY(refuse_what_is_not_built(options));
  VerifyProgress progress(context);
  verify::Options settings;
  settings.level = options.level == "quick" ? verify::Level::kQuick : verify::Level::kFull;
  settings.thread_count = options.thread_count != 0
                              ? options.thread_count
                              : std::max(1U, std::thread::hardware_concurrency());
  settings.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total);
  };
  settings.cancelled = stop_requested;
  auto report = verify::verify_cache(context.env, options.cache, settings);
  progress.clear();
  if (!report.ok()) return report.status();

  for (const verify::Finding& finding : report->findings) context.print(describe(finding));
  if (report->finding_count > report->findings.size()) {
    context.print("and " +
                  format_counted(report->finding_count - report->findings.size(), "more finding",
                                 "more findings") +
                  "\n");
  }
  context.summarize(summary(*report));
  context.print_json(report_to_json(*report));
  if (report->ok) return {};
  return {StatusCode::kCorrupt, options.cache + " is damaged: " +
                                    format_counted(report->finding_count, "finding", "findings")};
}

}  // namespace

void add_verify_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<VerifyOptions>();
  Command(app, context, "verify", "Check that every byte of a cache is what was written")
      .required("CACHE", options->cache, "The cache's folder")
      .option("--level", options->level, "{quick,full}",
              "quick: manifest, sizes and plan; full: every byte")
      .threads(options->thread_count)
      .hidden_flag("--repair", options->repair)
      .examples(
          "xtts-precompute verify ./cache\n"
          "xtts-precompute verify ./cache --level quick\n"
          "xtts-precompute verify ./cache --json | jq '.findings[].clip'")
      .runs([&context, options] { return run_verify(context, *options); });
}

}  // namespace xtts::cli
