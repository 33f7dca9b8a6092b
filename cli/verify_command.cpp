// verify: is every byte what was written?
#include <mutex>
#include <string>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "reader/cache_set.hpp"
#include "report/human.hpp"
#include "report/progress_meter.hpp"
#include "report/table.hpp"
#include "request/recipe_note.hpp"
#include "request/verify_caches.hpp"
#include "request/verify_json.hpp"
#include "request/verify_words.hpp"
#include "verify/verify.hpp"

namespace xtts::cli {
namespace {

using report::escape_controls;
using report::format_counted;
using report::format_size;

std::string describe_bytes(const report::Progress& progress) {
  return formatted("verify {}  {}/{}  {} MB/s", report::format_share(progress.done, progress.total),
                   format_size(progress.done), format_size(progress.total),
                   report::format_short(progress.per_second / 1e6));
}

std::string describe_clips(const report::Progress& progress) {
  return formatted("computing again {}/{}  {} clips/s", report::format_count(progress.done),
                   format_counted(progress.total, "clip", "clips"),
                   report::format_short(progress.per_second));
}

std::string describe_shards(const report::Progress& progress) {
  return formatted("mending shard {} of {}", report::format_count(progress.done + 1),
                   report::format_count(progress.total));
}

// The progress line of one stage. Any thread may update it.
class StageView {
 public:
  // Gives "verify 12 %  1.2 GB/10 GB  900 MB/s". The time left follows it.
  using Describe = std::string (*)(const report::Progress& progress);

  StageView(Context& context, Describe describe)
      : context_(context), describe_(describe), view_(context) {}

  void update(std::uint64_t done, std::uint64_t total) {
    const report::Progress progress = figures(done, total);
    view_.update([&] {
      const auto& left = progress.seconds_left;
      return describe_(progress) +
             (left ? "  ETA " + report::format_estimate(*left) : std::string());
    });
  }
  void clear() { view_.clear(); }

 private:
  report::Progress figures(std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    meter_.update(context_.env.now(), {.done = done, .total = total});
    return meter_.shown();
  }

  Context& context_;
  const Describe describe_;
  ProgressView view_;
  std::mutex mutex_;
  report::ProgressMeter meter_;  // guarded by mutex_
};

// Says what verify --deep recomputed.
std::string deep_summary(const verify::Report& report) {
  const std::string recomputed = formatted("; {} of {} computed again from the sources",
                                           report::format_count(report.comparison.count()),
                                           format_counted(report.sampled_of, "clip", "clips"));
  const std::string how = request::words_of(report.comparison);
  return how.empty() ? recomputed : formatted("{} and compared {}", recomputed, how);
}

std::string to_text(const verify::Finding& finding) {
  std::string text = escape_controls(finding.file);
  if (finding.offset_bytes) text += " at byte " + report::format_count(*finding.offset_bytes);
  text += ": " + request::what_of(finding);
  if (!finding.clip.empty()) text += " of " + escape_controls(finding.clip);
  if (!finding.column.empty()) text += formatted(" ({})", escape_controls(finding.column));
  const std::string expected = request::words_of(finding.expected);
  const std::string found = request::words_of(finding.found);
  if (!expected.empty()) text += ", expected " + escape_controls(expected);
  if (!found.empty()) text += ", found " + escape_controls(found);
  return text + "\n";
}

std::string to_text(const verify::RepairedFile& repair) {
  std::string text =
      formatted("{}: {}", escape_controls(repair.file), escape_controls(request::words_of(repair)));
  if (repair.recomputed_count > 0) {
    text += formatted(", {} computed again",
                      format_counted(repair.recomputed_count, "record", "records"));
  }
  return text + "\n";
}

std::string to_text(const verify::Remedy& remedy) {
  const std::string note = request::note_of(remedy);
  return escape_controls(note.empty() ? "what helps" : note) + ":\n  " +
         escape_controls(request::command_of(remedy)) + "\n";
}

std::string summary_of(const verify::Report& report) {
  const char* const verdict = !report.ok ? "damaged" : report.repaired.empty() ? "ok" : "mended";
  std::string text =
      formatted("{}: {}, {} in {}, {} checked in {}", std::string(verdict),
                format_counted(report.clip_count, "clip", "clips"),
                format_counted(report.record_count, "record", "records"),
                format_counted(report.shard_count, "shard", "shards"),
                format_size(report.bytes_checked), report::format_duration(report.seconds));
  if (report.level == verify::Level::kQuick)
    text += " (quick: manifest, sizes and index; --level full checks every byte)";
  if (report.level == verify::Level::kDeep) text += deep_summary(report);
  if (report.clip_count > 0 && !report.has_sources)
    text += "; sources.bin is missing, so the next build hashes all sources";
  return text + "\n";
}

// Empty for a cache that does not open: other lines say what is wrong with it.
std::string note_on_recipe(Context& context, const std::string& cache) {
  const auto clips = reader::CacheSet::open(context.env, cache);
  return clips ? request::recipe_note(context.env, (*clips)->whole()) : std::string();
}

Status run_verify(Context& context, const VerifyOptions& options) {
  StageView progress(context, describe_bytes);
  StageView recompute_progress(context, describe_clips);
  StageView repair_progress(context, describe_shards);
  std::optional<GracefulStopScope> graceful_stop;
  const auto complete = [&](verify::Options& settings) {
    settings.cancelled = stop_requested;
    settings.notice = [&context](const std::string& text) { context.warn(text); };
    settings.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    settings.recompute_progress = [&](std::uint64_t done, std::uint64_t total) {
      if (done == 1) progress.clear();
      recompute_progress.update(done, total);
    };
    settings.repair_progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.clear();
      recompute_progress.clear();
      repair_progress.update(done, total);
    };
    if (settings.repair || settings.level == verify::Level::kDeep) graceful_stop.emplace();
  };
  auto report = request::verify_caches(context.env, options, context.caller, complete);
  graceful_stop.reset();
  progress.clear();
  recompute_progress.clear();
  repair_progress.clear();
  if (!report.ok()) return report.status();

  for (const verify::Finding& finding : report->findings) context.summarize(to_text(finding));
  if (report->finding_count > report->findings.size()) {
    context.summarize(formatted("and {}, told once these are mended\n",
                                format_counted(report->finding_count - report->findings.size(),
                                               "more finding", "more findings")));
  }
  for (const verify::RepairedFile& repair : report->repaired) context.summarize(to_text(repair));
  if (report->remedy) context.summarize(to_text(*report->remedy));
  if (const std::string note = note_on_recipe(context, options.cache); !note.empty())
    context.summarize(
        formatted("the recipe differs from the shipped one: {}\n", escape_controls(note)));
  context.summarize(summary_of(*report));
  context.print_json(request::to_json(*report));
  if (report->ok) return {};
  return {StatusCode::kCorrupt,
          formatted("{} is damaged: {}", options.cache,
                    format_counted(report->finding_count, "finding", "findings"))};
}

}  // namespace

void add_verify_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<VerifyOptions>();
  Command(app, context, "verify", "Check that every byte of a cache is what was written")
      .required("CACHE", options->cache, "The cache's folder")
      .option(
          "--level", options->level, "{quick,full,deep}",
          "quick: manifest, sizes and index; full: every byte; deep: and records computed again "
          "from the sources")
      .flag("--repair", options->repair, "Mend what is damaged, byte for byte, and nothing else")
      .option("--data", options->data, "DATA",
              "deep, repair: where the sources are (default: where the last build found them)")
      .repeated("--audio-root", options->audio_roots, "DIR",
                "deep, repair: as for build, in that order (default: those of the last build)")
      .option("--index", options->index, "NAME",
              "repair: the index-....bin to make a lost manifest from, where it cannot be proved "
              "which is the newest")
      .option("--max-gone", options->max_gone, "P%",
              "repair: the share of clips that may be left out, because no source makes their lost "
              "records again")
      .option("--sample", options->sample, "P%",
              "deep: the share of clips to compute again, chosen by a seeded hash")
      .option("--seed", options->seed, "N", "deep: the seed that chooses the sample")
      .option("--isa", options->isa, "{best,scalar,avx2,avx512}",
              "deep, repair: the instruction set of the features")
      .threads(options->thread_count)
      .examples(
          "xtts-precompute verify ./cache\n"
          "xtts-precompute verify ./cache --level quick\n"
          "xtts-precompute verify ./cache --level deep --sample 1%\n"
          "xtts-precompute verify ./cache --repair --data ./data\n"
          "xtts-precompute verify ./cache --json | jq '.findings[].clip'")
      .runs([&context, options] { return run_verify(context, *options); });
}

}  // namespace xtts::cli
