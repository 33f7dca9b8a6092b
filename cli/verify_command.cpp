// verify: is every byte what was written?
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/isa_option.hpp"
#include "cli/rated_progress.hpp"
#include "cli/stop_signal.hpp"
#include "cli/verify_view.hpp"
#include "recipe/corpora_file.hpp"
#include "report/human.hpp"
#include "report/table.hpp"
#include "store/source_table.hpp"
#include "verify/verify.hpp"

namespace xtts::cli {
namespace {

using report::format_counted;
using report::format_size;

struct VerifyOptions {
  std::string cache;
  std::string level = "full";
  std::string data;
  std::string sample = "100%";
  std::string seed = "0";
  std::string isa = "best";
  std::uint32_t thread_count = 0;  // 0: not given
  bool repair = false;
};

std::string describe_bytes(std::uint64_t done, std::uint64_t total, double per_second) {
  const double share = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  return "verify " + report::format_percent(share) + "  " + format_size(done) + "/" +
         format_size(total) + "  " + report::format_short(per_second / 1e6) + " MB/s";
}

std::string describe_clips(std::uint64_t done, std::uint64_t total, double per_second) {
  return "computing again " + report::format_count(done) + "/" +
         report::format_counted(total, "clip", "clips") + "  " + report::format_short(per_second) +
         " clips/s";
}

std::string describe_shards(std::uint64_t done, std::uint64_t total, double /*per_second*/) {
  return "mending shard " + report::format_count(done + 1) + " of " + report::format_count(total);
}

Result<verify::Level> parse_level(const std::string& name) {
  if (name == "quick") return verify::Level::kQuick;
  if (name == "full") return verify::Level::kFull;
  if (name == "deep") return verify::Level::kDeep;
  return Status(StatusCode::kInvalidArgument, "--level is quick, full or deep, not '" + name + "'");
}

// "1%", or a share such as 0.01.
Result<double> parse_share(const std::string& text) {
  const bool is_percent = text.ends_with('%');
  const char* const end = text.data() + text.size() - (is_percent ? 1 : 0);
  double number = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const double share = is_percent ? number / 100.0 : number;
  if (error == std::errc() && rest == end && share > 0.0 && share <= 1.0) return share;
  return Status(StatusCode::kInvalidArgument,
                "--sample '" + text + "': a share of the clips above 0, such as 1%");
}

Result<std::uint64_t> parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && rest == end) return seed;
  return Status(StatusCode::kInvalidArgument, "--seed '" + text + "': a whole number from 0 up");
}

std::string scratch_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return join_path(folder != nullptr && *folder != '\0' ? folder : "/tmp",
                   "xtts-verify-" + std::to_string(::getpid()));
}

// DATA as it is named, or as the cache remembers it.
Result<verify::Sources> sources_of(Context& context, const VerifyOptions& options) {
  verify::Sources sources;
  sources.data = options.data;
  if (sources.data.empty()) {
    if (const auto table = store::load_source_table(context.env, options.cache))
      sources.data = table->data_path;
  }
  if (recipe::is_corpora_file(sources.data)) {
    auto corpora = recipe::load_corpora(context.env, sources.data);
    // A repair may need no sources at all; where it does, it says that they are not there.
    const bool is_needed = !options.data.empty() || options.level == "deep";
    if (!corpora && is_needed) return corpora.status();
    if (corpora) sources.corpora = std::move(*corpora);
  }
  XTTS_ASSIGN(sources.isa, parse_isa(options.isa));
  sources.decoder_command = decoder_command();
  sources.memory_bytes = pipeline::default_memory_bytes();
  sources.scratch_folder = scratch_folder();
  return sources;
}

// Options that say something about another level would be ignored: an error.
Status refuse_idle_options(const VerifyOptions& options, verify::Level level) {
  if (level == verify::Level::kDeep) return {};
  const auto refuse = [](const char* name, const char* where) {
    return Status(StatusCode::kInvalidArgument, std::string(name) + " is for " + where);
  };
  if (options.sample != "100%") return refuse("--sample", "--level deep");
  if (options.seed != "0") return refuse("--seed", "--level deep");
  if (options.repair) return {};
  if (!options.data.empty()) return refuse("--data", "--level deep and --repair");
  if (options.isa != "best") return refuse("--isa", "--level deep and --repair");
  return {};
}

Result<verify::Options> settings_of(Context& context, const VerifyOptions& options) {
  verify::Options settings;
  XTTS_ASSIGN(settings.level, parse_level(options.level));
  XTTS_TRY(refuse_idle_options(options, settings.level));
  settings.thread_count =
      options.thread_count != 0 ? options.thread_count : pipeline::default_thread_count();
  settings.cancelled = stop_requested;
  settings.notice = [&context](const std::string& text) { context.warn(text); };
  settings.repair = options.repair;
  const bool is_deep = settings.level == verify::Level::kDeep;
  if (options.repair || is_deep) {
    XTTS_ASSIGN(settings.sources, sources_of(context, options));
  }
  if (is_deep) {
    XTTS_ASSIGN(settings.sample.share, parse_share(options.sample));
    XTTS_ASSIGN(settings.sample.seed, parse_seed(options.seed));
  }
  return settings;
}

Status run_verify(Context& context, const VerifyOptions& options) {
  XTTS_ASSIGN(verify::Options settings, settings_of(context, options));
  RatedProgress progress(context, describe_bytes);
  RatedProgress recompute_progress(context, describe_clips);
  RatedProgress repair_progress(context, describe_shards);
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
  auto report = verify::verify_cache(context.env, options.cache, settings);
  progress.clear();
  recompute_progress.clear();
  repair_progress.clear();
  if (!report.ok()) return report.status();

  for (const verify::Finding& finding : report->findings) context.print(to_text(finding));
  if (report->finding_count > report->findings.size()) {
    context.print("and " +
                  format_counted(report->finding_count - report->findings.size(), "more finding",
                                 "more findings") +
                  "\n");
  }
  for (const verify::Mended& mended : report->repaired) context.print(to_text(mended));
  context.summarize(summary_of(*report));
  context.print_json(to_json(*report));
  if (report->ok) return {};
  return {StatusCode::kCorrupt, options.cache + " is damaged: " +
                                    format_counted(report->finding_count, "finding", "findings")};
}

}  // namespace

void add_verify_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<VerifyOptions>();
  Command(app, context, "verify", "Check that every byte of a cache is what was written")
      .required("CACHE", options->cache, "The cache's folder")
      .option("--level", options->level, "{quick,full,deep}",
              "quick: manifest, sizes and plan; full: every byte; deep: and records computed again "
              "from the sources")
      .flag("--repair", options->repair,
            "Make again what is damaged, byte for byte, and nothing else")
      .option("--data", options->data, "DATA",
              "deep, repair: where the sources are (default: where the last build found them)")
      .option("--sample", options->sample, "P%", "deep: so many of the clips, by a seeded hash")
      .option("--seed", options->seed, "N", "deep: of the sample")
      .option("--isa", options->isa, "{best,scalar,avx2,avx512}", "deep, repair: instruction set")
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
